import type { Importable, ImportableServer } from "code-execution-mcp/admin";
import { oneLine } from "./safe-text.ts";
import { shortPath } from "./short-path.ts";
import { alignColumns, cut } from "./text-layout.ts";
import type { Style } from "./text-layout.ts";

const PROGRAMS = {
  "claude-desktop": "Claude Desktop",
  "claude-code": "Claude Code",
  cursor: "Cursor",
  vscode: "VS Code",
} as const;

const MAX_REACH_COLUMNS = 40;

type Shown = Omit<ImportableServer, "entry">;

/** Renders the servers that other programs are set up with, a line each, and why one is not taken over. */
export function renderFoundServers(
  { servers, problems }: Omit<Importable, "servers"> & { servers: readonly Shown[] },
  { colors }: Style,
): string[] {
  if (servers.length === 0 && problems.length === 0) {
    return ["", "  No other program here is set up with MCP servers."];
  }
  const rows = servers.map((server) => [
    colors.bold(oneLine(server.name)),
    PROGRAMS[server.origin.client],
    cut(oneLine(server.reach), MAX_REACH_COLUMNS),
    dimUnlessEmpty(remark(server), colors),
  ]);
  const lines = alignColumns(rows).map((line) => `  ${line}`);
  const faults = problems.map(
    ({ file, message }) => `  ${colors.yellow(oneLine(shortPath(file)))}  ${oneLine(message)}`,
  );
  return ["", ...lines, ...faults];
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
