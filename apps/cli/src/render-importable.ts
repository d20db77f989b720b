import type { Importable, ImportableServer } from "code-execution-mcp/admin";
import { oneLine } from "./safe-text.ts";
import { shortPath } from "./short-path.ts";
import { alignColumns, cut, wrapIndented } from "./text-layout.ts";
import type { Style } from "./text-layout.ts";

const PROGRAMS = {
  "claude-desktop": "Claude Desktop",
  "claude-code": "Claude Code",
  cursor: "Cursor",
  vscode: "VS Code",
  windsurf: "Windsurf",
  zed: "Zed",
  codex: "Codex",
  gemini: "Gemini CLI",
  opencode: "OpenCode",
} as const;

/** A command can be long, and what is at its end counts too. */
const MAX_REACH_COLUMNS = 2_000;

const NOTE_INDENT = "      ";

type Shown = Omit<ImportableServer, "entry">;

/** Renders the servers that other programs are set up with, and why one is not taken over. */
export function renderFoundServers(
  { servers, problems }: Omit<Importable, "servers"> & { servers: readonly Shown[] },
  style: Style,
): string[] {
  const { colors } = style;
  if (servers.length === 0 && problems.length === 0) {
    return ["", "  No other program here is set up with MCP servers."];
  }
  const rows = servers.map((server) => [
    colors.bold(oneLine(server.name)),
    PROGRAMS[server.origin.client],
    dimUnlessEmpty(remark(server), colors),
  ]);
  const lines = alignColumns(rows).flatMap((line, index) => [
    `  ${line}`,
    ...servers.slice(index, index + 1).flatMap((server) => about(server, style)),
  ]);
  const faults = problems.map(
    ({ file, message }) => `  ${colors.yellow(oneLine(shortPath(file)))}  ${oneLine(message)}`,
  );
  return ["", ...lines, ...faults];
}

/** The whole command, and the names of what it is given. */
function about({ reach, variables, leftOut, obstacle }: Shown, { colors, width }: Style): string[] {
  if (obstacle !== undefined || reach === "") return [];
  const notes = [
    cut(oneLine(reach), MAX_REACH_COLUMNS),
    ...(variables.length === 0 ? [] : [`with ${oneLine(variables.join(", "))}`]),
    ...(leftOut.length === 0 ? [] : [`left out: ${oneLine(leftOut.join(", "))}`]),
  ];
  return notes.flatMap((note) => wrapIndented(note, NOTE_INDENT, width).map((line) => colors.dim(line)));
}

function dimUnlessEmpty(text: string, { dim }: Style["colors"]): string {
  return text === "" ? "" : dim(text);
}

const OBSTACLES = {
  exists: "there already",
  "same-name": "left out: another one has this name",
  incomplete: "left out: has neither a command nor a URL",
} as const;

function remark({ obstacle, unresolved, origin }: Shown): string {
  if (obstacle !== undefined) return OBSTACLES[obstacle];
  if (unresolved.length > 0) return `added switched off: needs ${unresolved.join(", ")}`;
  return origin.scope === "project" ? `for ${oneLine(shortPath(origin.project ?? ""))}` : "";
}
