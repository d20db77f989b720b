import type { Finding, ToolDefinition } from "@cem/core";
import { identifierKey, nearest } from "@cem/core/text";

const fromNode = (name: string): [string, string] => [name, `Write import ${name} from "node:${name}".`];
const ofPackage = (name: string): [string, string] => [
  name,
  "There are no packages here: use what JavaScript itself and the node: modules have.",
];

/** Names of CommonJS, Node, Python and packages that programs use without declaring them, and what to write instead. */
export const INSTEAD_OF_NAME: ReadonlyMap<string, string> = new Map([
  ["__dirname", "Write import.meta.dirname."],
  ["__filename", "Write import.meta.filename."],
  ["require", 'Write import … from "name", or await import(name).'],
  ...["assert", "fs", "os", "path", "readline", "util", "zlib"].map(fromNode),
  ["None", "Write null."],
  ["True", "Write true."],
  ["False", "Write false."],
  ["len", "Write value.length."],
  ["open", 'Write import fs from "node:fs", and fs.readFileSync(file, "utf8").'],
  ["print", "Write console.log(…)."],
  ["str", "Write String(value)."],
  ...["$", "_", "axios", "cheerio", "dayjs", "lodash", "moment", "np", "pd", "z"].map(ofPackage),
]);

const UNKNOWN_NAME = "unknown-name";
/** The words of a call that may name a tool: those of `mcp__lab__find(…)`, `tools.lab.find(…)` or `callTool("lab", "find")`. */
const MAX_WORDS = 6;
const WORD = /[^\p{ID_Continue}$]+|__/u;
const END_OF_PATH = /[^\p{ID_Continue}$.]/u;
/** Objects that hold tools in other products. A member of any other undeclared object is a tool only by the very name of one. */
const HOLDS_TOOLS = /^(?:[\p{ID_Continue}$]+$|(?:codemode|functions|mcp|servers|skills|tools)\b)/u;

/** Adds the tool that was probably meant to findings about names that nothing declares. */
export function withToolHints(findings: Finding[], code: string, tools: readonly ToolDefinition[]) {
  const mayNeed = ({ rule, message }: Finding): boolean =>
    rule === UNKNOWN_NAME && !message.includes("Did you mean");
  if (tools.length === 0 || !findings.some(mayNeed)) return findings;
  const lines = code.split(/\r\n|[\n\r\u2028\u2029]/u);
  return findings.map((finding) => {
    const { line = 0, column = 1 } = finding;
    const text = (lines[line - 1] ?? "").slice(column - 1);
    const hint = mayNeed(finding) ? toolHint(text, tools) : undefined;
    return hint === undefined ? finding : { ...finding, hint };
  });
}

function toolHint(text: string, tools: readonly ToolDefinition[]): string | undefined {
  const words = new Set(text.split(WORD, MAX_WORDS));
  const [path = ""] = text.split(END_OF_PATH, 1);
  if (INSTEAD_OF_NAME.has(path.split(".", 1).join(""))) return undefined;
  const ofServer = tools.filter(({ server }) => words.has(server));
  const candidates = ofServer.length > 0 ? ofServer : tools;
  const names = new Set(candidates.map(({ name }) => name));
  const last = path.split(WORD).at(-1) ?? "";
  const [near = ""] = nearest(last, names, 1);
  const isMeant =
    ofServer.length > 0 || HOLDS_TOOLS.test(path) || identifierKey(near) === identifierKey(last);
  if (!isMeant) return undefined;
  const tool = ofServer.find(({ name }) => words.has(name)) ?? candidates.find(({ name }) => name === near);
  return (
    tool && `Did you mean ${tool.name}? Write import { ${tool.name} } from ${JSON.stringify(tool.module)}.`
  );
}
