import {
  CemError,
  parseJson,
  printCall,
  printImport,
  printLiteral,
  toolId,
  type JsonObject,
  type ToolDefinition,
} from "@cem/core";
import { CALL } from "./prompt.ts";

const CALL_LINE = new RegExp(
  `^[^\\w\\n]*${CALL}[ :*\`]+(?<name>[\\w$.-]+)[ \\t*\`]*\\(?\\s*(?=\\{|$)`,
  "gmu",
);
const SERVER = /^[\w-]+$/u;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/u;
const OPENING = "{[(";
const CLOSING = "}])";

interface CallLine {
  name: string;
  /** The text of its arguments: an object, as JSON or as code. */
  args: string;
}

/** A call of an offered tool whose arguments are JSON. */
export interface ReadCall {
  tool: ToolDefinition;
  args: JsonObject;
}

export function findCallLines(said: string): CallLine[] {
  const found = [...said.matchAll(CALL_LINE)];
  return found.map(({ 0: matched, groups, index }, at) => ({
    name: groups?.["name"] ?? "",
    // An unclosed call ends where the next call begins.
    args: objectIn(said.slice(index + matched.length, found[at + 1]?.index)),
  }));
}

/** Converts calls to a program. `calls`: set if all are of offered tools with JSON. @throws CemError `LLM_ANSWER_UNUSABLE` */
export function programOfCalls(lines: readonly CallLine[], tools: readonly ToolDefinition[], model: string) {
  const read = lines.map((line) => readCall(line, tools, model));
  const used: Importable[] = [];
  for (const { tool } of read) if (!used.some((one) => isSame(one, tool))) used.push(tool);
  const imports = used.map((tool) => {
    const alias = localName(tool, used);
    return printImport({ ...tool, name: alias === tool.name ? alias : `${tool.name} as ${alias}` });
  });
  const expressions = read.map(({ tool, given, call }) => {
    const name = localName(tool, used);
    return call === undefined ? `await ${name}(${given})` : printCall({ ...call.tool, name }, call.args);
  });
  const [only = ""] = expressions;
  const value = expressions.length === 1 ? only : `[${expressions.join(", ")}]`;
  const calls = read.flatMap(({ call }) => call ?? []);
  return {
    code: `${imports.join("\n")}\n\nexport default ${value};\n`,
    calls: calls.length === read.length ? calls : undefined,
  };
}

type Importable = Pick<ToolDefinition, "name" | "module">;

function isSame(one: Importable, other: Importable): boolean {
  return one.name === other.name && one.module === other.module;
}

/** A unique local name: tools with the name of another server's tool get a number. */
function localName(tool: Importable, used: readonly Importable[]): string {
  const at = used.findIndex((one) => isSame(one, tool));
  const before = used.slice(0, at).filter(({ name }) => name === tool.name).length;
  return before === 0 ? tool.name : `${tool.name}${before + 1}`;
}

/** Converts a call to code. JSON is serialized again, so that it can't inject code. */
function readCall({ name, args: text }: CallLine, tools: readonly ToolDefinition[], model: string) {
  const args = parseJson(text) as JsonObject | undefined;
  const found = tools.filter((tool) => isNamed(tool, name));
  const fitting = args === undefined || found.length < 2 ? found : found.filter((one) => takes(one, args));
  const [tool] = fitting;
  if (tool !== undefined && fitting.length === 1) {
    return args === undefined ? { tool, given: text } : { tool, call: { tool, args } };
  }
  // Whether such a tool exists is checked with the code.
  const other = found.length === 0 ? importableOf(name) : undefined;
  if (other !== undefined) return { tool: other, given: args === undefined ? text : printLiteral(args) };
  const what =
    found.length === 0
      ? `calls ${name}, which it was not offered`
      : `calls ${name}, which may be ${found.map(toolId).join(" or ")}`;
  throw new CemError("LLM_ANSWER_UNUSABLE", `The answer of ${model} ${what}.`, { details: { model } });
}

function isNamed(tool: ToolDefinition, name: string): boolean {
  const { originalName = tool.name, server } = tool;
  return [tool.name, toolId(tool), originalName, `${server}.${originalName}`].includes(name);
}

function importableOf(name: string): Importable | undefined {
  const [server = "", tool = "", ...more] = name.split(".");
  if (more.length > 0 || !SERVER.test(server) || !IDENTIFIER.test(tool)) return undefined;
  return { name: tool, module: `./servers/${server}/index.ts` };
}

function takes({ inputSchema }: ToolDefinition, args: JsonObject): boolean {
  const { properties = {}, required = [] } = inputSchema as { properties?: object; required?: string[] };
  const given = Object.keys(args);
  return given.every((key) => Object.hasOwn(properties, key)) && required.every((key) => given.includes(key));
}

/** The object at the beginning of a text, up to its closing brace; `{}` if there is none. */
function objectIn(text: string): string {
  if (text[0] !== "{") return "{}";
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (`"'\``.includes(character)) at = endOfString(text, at);
    else if (OPENING.includes(character)) depth += 1;
    else if (CLOSING.includes(character)) depth -= 1;
    if (depth === 0) return text.slice(0, at + 1);
  }
  return text;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === text[start]) return at;
  }
  return text.length;
}
