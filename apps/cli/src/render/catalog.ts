import { exampleCall } from "@cem/core";
import type { RankedTool, ToolDefinition, ToolProblem, ToolServer } from "@cem/core";
import { renderCode } from "./value.ts";
import { renderPairs } from "./rows.ts";
import { columnsOf, counted, cut, INDENT, joined, oneLine, shortPath, wrapIndented } from "./text.ts";
import type { Style } from "./text.ts";

export type Detail = "name" | "description" | "full";

const TOOL_INDENT = "    ";
const MIN_SUMMARY_COLUMNS = 20;

export const PYTHON_HINT = "See what is left to do with:  cem migrate";

/** The first sentence of a description, or its beginning. */
function summary(description: string, width: number): string {
  const text = oneLine(description);
  const [sentence = text] = /^.*?[.!?](?=\s|$)/u.exec(text) ?? [];
  return cut(sentence, width);
}

/** `4 servers, 14 tools, 1 skill`. */
export function catalogSize(servers: readonly ToolServer[]): string {
  const skills = servers.filter((server) => server.kind === "skill").length;
  const tools = servers.flatMap((server) => (server.kind === "skill" ? [] : server.tools));
  return joined(
    counted(servers.length - skills, "server"),
    counted(tools.length, "tool"),
    skills > 0 && counted(skills, "skill"),
  );
}

/** Renders every server with one line per tool, and the totals. */
export function renderServers(servers: readonly ToolServer[], style: Style): string[] {
  const { colors } = style;
  if (servers.length === 0)
    return [
      "",
      "  There are no tools here. Make a first one: cem init. How configured servers stand: cem servers",
    ];
  const lines = servers.flatMap((server) => {
    const nameWidth = Math.max(0, ...server.tools.map((tool) => tool.name.length));
    const room = style.width - TOOL_INDENT.length - nameWidth - 2;
    const name = server.kind === "skill" ? `${server.name} (skill)` : server.name;
    const heading = cut(oneLine(name), style.width);
    const about = summary(server.description, Math.max(0, style.width - heading.length - 4));
    return [
      "",
      `${INDENT}${colors.bold(heading)}${about === "" ? "" : `  ${colors.dim(about)}`}`,
      ...renderPairs(
        server.tools.map((tool) => [
          tool.name,
          tool.unavailable === undefined
            ? summary(tool.description, Math.max(room, MIN_SUMMARY_COLUMNS))
            : cut(`unavailable: ${oneLine(tool.unavailable.message)}`, Math.max(room, MIN_SUMMARY_COLUMNS)),
        ]),
        TOOL_INDENT,
        style,
      ),
    ];
  });
  return [...lines, "", colors.dim(`${INDENT}${catalogSize(servers)}. cem tools <server> shows signatures.`)];
}

/** Renders one server with the signature and the whole description of each tool. */
export function renderServer(server: ToolServer, style: Style): string[] {
  const { colors } = style;
  const about = oneLine(server.description);
  return [
    "",
    `${INDENT}${colors.bold(oneLine(server.name))}`,
    ...(about === "" ? [] : indented(about, INDENT, style)),
    ...server.tools.flatMap((tool) => ["", ...renderTool(tool, style)]),
  ];
}

function renderTool(tool: ToolDefinition, style: Style): string[] {
  const { colors } = style;
  const { message, hint = "" } = tool.unavailable ?? { message: "" };
  const unavailable = message === "" ? "" : `unavailable: ${oneLine(message)}`;
  const imported = `import { ${tool.name} } from "${oneLine(tool.module)}";`;
  return [
    ...indented(oneLine(tool.signature), TOOL_INDENT, style).map((line) => colors.cyan(line)),
    ...indented(tool.description.trim(), TOOL_INDENT, style),
    ...(tool.needsApproval === true ? [`${TOOL_INDENT}${colors.yellow("needs your approval")}`] : []),
    ...indented(unavailable, TOOL_INDENT, style).map((line) => colors.yellow(line)),
    ...indented(hint, TOOL_INDENT, style),
    `${TOOL_INDENT}${colors.dim(imported)}`,
  ];
}

function indented(text: string, indent: string, { width }: Style): string[] {
  return text === "" ? [] : wrapIndented(text, indent, width);
}

/** Renders found tools, best first, in the requested detail; `codes` belong to the first ones. */
export function renderFound(
  found: readonly RankedTool[],
  detail: Detail,
  style: Style,
  codes: readonly (string | undefined)[] = [],
): string[] {
  const id = ({ tool }: RankedTool): string => oneLine(`${tool.server}.${tool.name}`);
  if (detail === "full")
    return found.flatMap((ranked, at) => [
      "",
      `${INDENT}${style.colors.bold(id(ranked))}  ${ranked.score.toFixed(2)}  ${style.colors.dim(oneLine(ranked.reason))}`,
      ...renderTool(ranked.tool, style),
      `${TOOL_INDENT}${style.colors.dim(oneLine(exampleCall(ranked.tool)))}`,
      ...(codes[at] === undefined ? [] : renderCode(codes[at], style, true)),
    ]);
  const names = found.map((ranked) => `${ranked.score.toFixed(2)}  ${id(ranked)}`);
  const room = style.width - INDENT.length - Math.max(0, ...names.map(columnsOf)) - 2;
  const pairs = found.map(({ tool }, index): [string, string] => [
    names[index] ?? "",
    detail === "name" ? "" : summary(tool.description, Math.max(room, MIN_SUMMARY_COLUMNS)),
  ]);
  return ["", ...renderPairs(pairs, INDENT, style)];
}

export function renderFoundNotes(notes: readonly string[], { colors }: Style): string[] {
  return notes.length === 0 ? [] : ["", ...notes.map((note) => `${INDENT}${colors.dim(oneLine(note))}`)];
}

/** Renders files that failed to load as tools: their location and problem. */
export function renderProblems(problems: readonly ToolProblem[], { colors }: Style): string[] {
  const ofFolder = problems.filter(({ server }) => server === "");
  const ofFiles = problems.filter(({ server }) => server !== "");
  const remarks = ofFolder.flatMap(({ message, cause }) => [
    "",
    `  ${colors.yellow(oneLine(message))}`,
    ...(cause === "python" ? [`  ${PYTHON_HINT}`] : []),
  ]);
  if (ofFiles.length === 0) return remarks;
  const lines = ofFiles.flatMap(({ file, line, message }) => {
    const place = `${oneLine(shortPath(file))}${line === undefined ? "" : `:${line}`}`;
    return [`  ${colors.yellow(place)}  ${oneLine(message)}`];
  });
  return ["", `  ${counted(ofFiles.length, "file")} can't be used as tools:`, ...lines, ...remarks];
}
