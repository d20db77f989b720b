import type { CatalogSnapshot, ToolDefinition } from "@cem/core";
import type { Argument, Command, Option } from "commander";
import { BUILT_IN_SANDBOXES } from "../command-options.ts";

/** One word that can follow, and what it is. */
export interface Candidate {
  word: string;
  about: string;
}

/** What of the project completion needs. It is read only where a server or a tool is asked for. */
export type ReadCatalog = () => Promise<CatalogSnapshot>;

/** Commands whose first argument is a server. */
const TAKES_SERVER = new Set(["tools", "remove", "generate", "auth"]);

/**
 * What can follow on a command line.
 *
 * @param words - The words after the command's name; the last is the one that is being typed, and may be empty.
 */
export async function candidatesFor(
  words: readonly string[],
  program: Command,
  readCatalog: ReadCatalog,
): Promise<Candidate[]> {
  const typed = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const all = await possible(before, typed, program, readCatalog);
  return all.filter(({ word }) => word.startsWith(typed));
}

async function possible(
  before: readonly string[],
  typed: string,
  program: Command,
  readCatalog: ReadCatalog,
): Promise<Candidate[]> {
  const { command, given, open, isUnknown } = read(before, program);
  if (isUnknown) return [];
  if (open !== undefined) return valuesOf(open).map((word) => ({ word, about: "" }));
  if (typed.startsWith("-")) return optionsOf(command ?? program);
  if (command === undefined) {
    return program.commands.filter(isListed).map((one) => ({ word: one.name(), about: one.description() }));
  }
  const name = command.name();
  if (name === "help" && given.length === 0) return possible([], typed, program, readCatalog);
  if (name === "call") return callCandidates(given, await readCatalog());
  const isServer = TAKES_SERVER.has(name) && (given.length === 0 || isVariadic(command));
  if (isServer) return serverCandidates(await readCatalog());
  if (name === "emit" && given.length === 1) return serverCandidates(await readCatalog());
  const argument = command.registeredArguments[given.length];
  return (argument?.argChoices ?? []).map((word) => ({ word, about: "" }));
}

/** The values that an option takes, as far as they are known. */
function valuesOf(option: Option): readonly string[] {
  // Plugins bring others.
  return option.attributeName() === "sandbox" ? BUILT_IN_SANDBOXES : (option.argChoices ?? []);
}

interface Line {
  command: Command | undefined;
  /** The arguments of the command so far. */
  given: string[];
  /** An option that waits for its value. */
  open: Option | undefined;
  /** Whether there is no such command. */
  isUnknown: boolean;
}

function read(words: readonly string[], program: Command): Line {
  const line: Line = { command: undefined, given: [], open: undefined, isUnknown: false };
  for (const word of words) {
    const { command, open } = line;
    line.open = undefined;
    if (open !== undefined) continue;
    const option = [...(command?.options ?? []), ...program.options].find(
      ({ long, short }) => long === word || short === word,
    );
    if (option !== undefined) line.open = option.required ? option : undefined;
    else if (word.startsWith("-")) continue;
    else if (command === undefined) {
      line.command = program.commands.find((one) => one.name() === word);
      line.isUnknown ||= line.command === undefined;
    } else line.given.push(word);
  }
  return line;
}

function callCandidates(given: readonly string[], { servers }: CatalogSnapshot): Candidate[] {
  const tools = servers.flatMap((server) => server.tools);
  const [target, ...args] = given;
  if (target === undefined) {
    return tools.map((tool) => ({ word: `${tool.server}.${tool.name}`, about: firstLine(tool) }));
  }
  const tool = tools.find((one) => `${one.server}.${one.name}` === target);
  const taken = new Set(args.map((arg) => arg.split(/:?=/u)[0]));
  const properties: Record<string, unknown> = tool?.inputSchema["properties"] ?? {};
  return Object.entries(properties)
    .filter(([name]) => !taken.has(name))
    .map(([name, schema]) => ({ word: `${name}=`, about: descriptionOf(schema) }));
}

function serverCandidates({ servers }: CatalogSnapshot): Candidate[] {
  return servers.map(({ name, description }) => ({ word: name, about: oneLine(description) }));
}

function optionsOf(command: Command): Candidate[] {
  return command.options
    .filter(({ hidden }) => !hidden)
    .map(({ long, short, description }) => ({
      word: long ?? short ?? "",
      about: description,
    }));
}

function isListed(command: Command): boolean {
  return command.name() !== "complete";
}

function isVariadic({ registeredArguments }: { registeredArguments: readonly Argument[] }): boolean {
  return registeredArguments[0]?.variadic === true;
}

function firstLine({ description, flags = [] }: ToolDefinition): string {
  // A suspicious text is nothing to print among suggestions.
  return flags.length > 0 ? "" : oneLine(description);
}

function descriptionOf(schema: unknown): string {
  const text: unknown =
    typeof schema === "object" && schema !== null ? Reflect.get(schema, "description") : "";
  return typeof text === "string" ? oneLine(text) : "";
}

function oneLine(text: string): string {
  return (text.split("\n")[0] ?? "").replaceAll(/\s+/gu, " ").trim();
}
