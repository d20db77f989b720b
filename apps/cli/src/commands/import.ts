import { CemError } from "@cem/core";
import type { GeneratedServer, Importable, ImportableServer } from "code-execution-mcp/admin";
import { askYesNo } from "../ask/prompt.ts";
import { showStarting, type Answer, type CommandContext } from "../io/terminal.ts";
import { renderRow } from "../render/rows.ts";
import { oneLine, safeData, alignColumns, counted, cut, shortPath, wrapIndented } from "../render/text.ts";
import { renderGenerated } from "../render/servers.ts";
import type { Style } from "../render/text.ts";
import { serverSourceOf } from "../command/options.ts";
import { answer, defineCommand, type Given } from "../command/define-command.ts";

export const importCommand = defineCommand<{ names: string[]; yes: boolean }>({
  name: "import",
  group: "start",
  about: "Add MCP servers that other programs are set up with",
  help: `
Looks into the files of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Zed, Codex, Gemini CLI and OpenCode,
shows the whole commands and what can't be taken over, and asks.
A command gets only the variables of its entry, also where the other program hands on its whole environment.
Values are copied as they stand there, secrets too. With --json nothing is added unless --yes is given.

Examples:
  cem import
  cem import github sentry --yes`,
  settings: ["config", "servers"],
  declare: (command) =>
    command.argument("[names...]", "only these").option("-y, --yes", "add them without asking", false),
  run: importServers,
});

export async function importServers(
  { names, yes, options }: Given<{ names: string[]; yes: boolean }>,
  context: CommandContext,
): Promise<Answer> {
  const { addServers, findImportable, generateTools } = await import("code-execution-mcp/admin");
  const { live } = context;
  const source = serverSourceOf(options, context);
  const found = choose(await findImportable(source), names);
  const wanted = found.servers.filter(({ obstacle }) => obstacle === undefined);
  // Entries may hold secrets, which are not shown.
  const shown = { ...found, servers: found.servers.map(withoutEntry) };
  if (live !== undefined) live.write(`${renderFoundServers(safeData(shown), live.style).join("\n")}\n`);

  const isAgreed =
    wanted.length > 0 &&
    (yes || (live !== undefined && (await askYesNo(`Add ${counted(wanted.length, "server")}?`, context))));
  let generated: GeneratedServer[] = [];
  let warnings: string[] = [];
  if (isAgreed) {
    ({ warnings } = await addServers(wanted, source));
    const enabled = wanted.filter(({ entry }) => entry["enabled"] !== false).map(({ name }) => name);
    const left = new Set(enabled);
    const onDone = (name: string): void => void left.delete(name);
    const generating = enabled.length > 0 ? generateTools({ ...source, servers: enabled, onDone }) : [];
    generated = await showStarting(live, left, Promise.resolve(generating));
  }
  const isDone = generated.every(({ state }) => state === "generated");
  const added = isAgreed ? wanted.map(({ name }) => name) : [];
  return answer({
    data: { found: shown.servers, problems: found.problems, added, warnings, generated },
    isDone,
    report: (safe, style) => {
      if (wanted.length === 0) return ["", "  There is nothing to add."];
      if (!isAgreed) return ["", "  Nothing was added. To add without being asked: cem import --yes"];
      const { yellow: paint } = style.colors;
      const notes = safe.warnings.flatMap((text) => renderRow("note", oneLine(text), style, { paint }));
      const isNone = safe.generated.length === 0;
      return [
        ...(isNone ? ["", "  Added, switched off."] : renderGenerated(safe.generated, style)),
        ...notes,
      ];
    },
    brief: (safe) => safe.added.join("\n"),
  });
}

/** @throws CemError `SERVER_NOT_FOUND` for a name that was not found in any program. */
function choose(found: Importable, names: readonly string[]): Importable {
  if (names.length === 0) return found;
  const there = new Set(found.servers.map(({ name }) => name));
  const missing = names.find((name) => !there.has(name));
  if (missing === undefined)
    return { ...found, servers: found.servers.filter(({ name }) => names.includes(name)) };
  throw new CemError(
    "SERVER_NOT_FOUND",
    `No other program has a server "${missing}". There are: ${[...there].join(", ") || "none"}.`,
    { details: { server: missing, known: [...there] } },
  );
}

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

/** A command can be long, and its end matters too. */
const MAX_REACH_COLUMNS = 2_000;

const NOTE_INDENT = "      ";

type Shown = ReturnType<typeof withoutEntry>;

function withoutEntry({ entry, ...server }: ImportableServer) {
  return { ...server, enabled: entry["enabled"] !== false };
}

/** Renders the servers configured in other programs, and why one is not imported. */
function renderFoundServers(
  { servers, problems }: Omit<Importable, "servers"> & { servers: readonly Shown[] },
  style: Style,
): string[] {
  const { colors } = style;
  if (servers.length === 0 && problems.length === 0)
    return ["", "  No other program here is set up with MCP servers."];
  const rows = servers.map((server) => {
    const said = remark(server);
    const name = colors.bold(oneLine(server.name));
    return [name, PROGRAMS[server.origin.client], said === "" ? "" : colors.dim(said)];
  });
  const lines = alignColumns(rows).flatMap((line, index) => [
    `  ${line}`,
    ...servers.slice(index, index + 1).flatMap((server) => about(server, style)),
  ]);
  const faults = problems.map(
    ({ file, message }) => `  ${colors.yellow(oneLine(shortPath(file)))}  ${oneLine(message)}`,
  );
  return ["", ...lines, ...faults];
}

/** The whole command, and the names of its variables; of an entry that is refused, the reason. */
function about({ reach, obstacle, origin, refusal = "", ...server }: Shown, { colors, width }: Style) {
  if (obstacle !== undefined && obstacle !== "refused") return [];
  const { variables, blockedTools, leftOut } = server;
  const more = leftOut.some((key) => /tools$/iu.test(key)) ? " (more of its tools can be called here)" : "";
  const notes =
    obstacle === "refused"
      ? [oneLine(refusal), `in ${oneLine(shortPath(origin.file))}`]
      : [
          cut(oneLine(reach), MAX_REACH_COLUMNS),
          ...(variables.length === 0 ? [] : [`with ${oneLine(variables.join(", "))}`]),
          ...(blockedTools.length === 0 ? [] : [`blocked here too: ${oneLine(blockedTools.join(", "))}`]),
          ...(leftOut.length === 0 ? [] : [`left out: ${oneLine(leftOut.join(", "))}${more}`]),
        ];
  return notes.flatMap((note) => wrapIndented(note, NOTE_INDENT, width).map((line) => colors.dim(line)));
}

const OBSTACLES = {
  exists: "there already",
  "same-name": "left out: another one has this name",
  incomplete: "left out: has neither a command nor a URL",
  refused: "left out",
} as const;

function remark({ obstacle, unresolved, enabled, origin }: Shown): string {
  if (obstacle !== undefined) return OBSTACLES[obstacle];
  if (unresolved.length > 0) return `added switched off: needs ${unresolved.join(", ")}`;
  if (!enabled) return "added switched off, as it is there";
  return origin.scope === "project" ? `for ${oneLine(shortPath(origin.project ?? ""))}` : "";
}
