import type { Finding, ToolDefinition } from "@cem/core";
import { nearest } from "@cem/core/text";

/** Names of CommonJS, and what to write instead. */
export const INSTEAD_OF_COMMON_JS: ReadonlyMap<string, string> = new Map([
  ["__dirname", "import.meta.dirname"],
  ["__filename", "import.meta.filename"],
  ["require", 'import … from "name", or await import(name)'],
]);

const UNKNOWN_NAME = "unknown-name";
/** The words of a call that may name a tool: those of `mcp__lab__find(…)`, `tools.lab.find(…)` or `callTool("lab", "find")`. */
const MAX_WORDS = 6;
const WORD = /[^\p{ID_Continue}$]+|__/u;
const END_OF_PATH = /[^\p{ID_Continue}$.]/u;

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
  const ofServer = tools.filter(({ server }) => words.has(server));
  const candidates = ofServer.length > 0 ? ofServer : tools;
  const names = new Set(candidates.map(({ name }) => name));
  const [near] = nearest(path.split(WORD).at(-1) ?? "", names, 1);
  const tool = ofServer.find(({ name }) => words.has(name)) ?? candidates.find(({ name }) => name === near);
  return (
    tool && `Did you mean ${tool.name}? Write import { ${tool.name} } from ${JSON.stringify(tool.module)}.`
  );
}
