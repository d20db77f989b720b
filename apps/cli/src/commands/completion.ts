import type { CatalogSnapshot, ToolDefinition } from "@cem/core";
import { BUILT_IN_SANDBOXES } from "../command/options.ts";
import { EXIT_OK } from "../errors.ts";
import type { Answer } from "../io/command-context.ts";
import { safeText } from "../render/text.ts";
import { configSourceOf } from "../run/config-source.ts";
import { Argument } from "commander";
import type { Command, Option } from "commander";
import { defineCommand } from "../command/define-command.ts";
import type { Given } from "../command/define-command.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

/** `cem completion`: the script that makes a shell complete commands, options, servers and tools. */
export const completion = defineCommand<{ shell: Shell }>({
  name: "completion",
  group: "more",
  about: "Print the completion of a shell",
  help: `
Examples:
  source <(cem completion bash)               in ~/.bashrc
  source <(cem completion zsh)                in ~/.zshrc, after compinit
  cem completion fish > ~/.config/fish/completions/cem.fish`,
  declare: (command) => command.addArgument(new Argument("<shell>", "the shell").choices(SHELLS)),
  run: printCompletion,
});

/** `cem complete`: the words that may follow, for the script of `cem completion`. It reports no errors, since somebody is typing. */
export const complete = defineCommand<{ words: string[]; program: Command }>({
  name: "complete",
  group: "more",
  about: "",
  help: "",
  isHidden: true,
  declare: (command) => command.argument("[words...]"),
  read: (command) => ({ words: command.args, program: command.parent ?? command }),
  run: printCandidates,
});

async function printCompletion({ shell }: Given<{ shell: Shell }>): Promise<Answer> {
  const script = COMPLETION_SCRIPTS[shell];
  return {
    exitCode: EXIT_OK,
    data: { status: "success", shell, script },
    report: () => [script],
    brief: () => script,
  };
}

/*
 * Each script asks the command itself what can follow, one word a line, with what it is after a tab. Nothing else is known to the
 * shell, so that a new version needs no new script.
 */

const BASH = `# Completion of cem for bash. In ~/.bashrc:  source <(cem completion bash)
_cem() {
  local IFS=$'\\n' word="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  local line
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(cem complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ \${#COMPREPLY[@]} -eq 0 ]]; then
    compopt -o default 2>/dev/null
  elif [[ \${COMPREPLY[0]} == *= ]]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -F _cem cem`;

const ZSH = `#compdef cem
# Completion of cem for zsh. In ~/.zshrc, after compinit:  source <(cem completion zsh)
_cem() {
  local -a found
  local line
  while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <(cem complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then
    if [[ \${found[1]} == *=:* ]]; then
      _describe 'cem' found -S ''
    else
      _describe 'cem' found
    fi
  else
    _files
  fi
}
compdef _cem cem`;

const FISH = `# Completion of cem for fish. Into ~/.config/fish/completions/cem.fish:  cem completion fish
function __cem_complete
  set -l words (commandline -opc) (commandline -ct)
  cem complete -- $words[2..-1] 2>/dev/null
end
complete -c cem -a '(__cem_complete)'`;

/** The script for each shell. */
const COMPLETION_SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

/** A word of a name that a shell would read as more than that is not suggested. */
const PLAIN = /^[\w.:=/@+-]+$/u;

async function printCandidates({
  words,
  program,
  options,
}: Given<{ words: string[]; program: Command }>): Promise<Answer> {
  const readCatalog = async () => {
    const { listCatalog } = await import("code-execution-mcp/admin");
    return listCatalog({ ...configSourceOf(options), onLog: () => {}, triesServers: false });
  };
  const found = await candidatesFor(words, program, readCatalog).catch(() => []);
  const lines = found
    .filter(({ word }) => PLAIN.test(word))
    .map(({ word, about }) => `${word}\t${safeText(about).replaceAll(/[\n\t]/gu, " ")}`);
  return {
    exitCode: EXIT_OK,
    data: { status: "success", candidates: found },
    report: () => lines,
    brief: () => lines.join("\n"),
  };
}

/** One word that can follow, and what it is. */
export interface Candidate {
  word: string;
  about: string;
}

/** Reads the part of the project that completion needs, and only where a server or a tool is asked for. */
export type ReadCatalog = () => Promise<CatalogSnapshot>;

/** Commands whose first argument is a server. */
const TAKES_SERVER = new Set(["tools", "remove", "generate", "auth"]);

/**
 * Lists the words that can follow on a command line.
 *
 * @param words - The words after the command's name; the last is the one that is being typed, and may be empty.
 */
async function candidatesFor(
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
