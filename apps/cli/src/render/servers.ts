import type { ErrorInfo } from "@cem/core";
import { shellWord } from "@cem/core/text";
import type { ExaminedServer, GeneratedServer } from "code-execution-mcp/admin";
import { withHint } from "../errors.ts";
import { INDENT, joined, oneLine } from "./text.ts";
import { alignColumns, columnsOf, counted, cut, duration, padEnd, shortPath, wrapIndented } from "./text.ts";
import type { Style } from "./text.ts";

const NO_SERVERS = ["", `${INDENT}No MCP server is configured. Add one: cem add <name> -- npx -y <server>`];
const MAX_EXCERPT_COLUMNS = 160;
const MAX_LISTED = 20;

const STATE_WORDS: Partial<Record<ExaminedServer["state"], string>> = {
  connecting: "no answer",
  "auth-required": "sign-in",
  disabled: "off",
};

/** The state of a server in a word or two. */
export function stateOf({ state, lastError }: Pick<ExaminedServer, "state" | "lastError">): string {
  return lastError?.code === "FOLDER_UNTRUSTED" ? "held back" : (STATE_WORDS[state] ?? state);
}

/** Renders one line per server, with problems and advice below it. */
export function renderServers(servers: readonly ExaminedServer[], style: Style): string[] {
  const { colors } = style;
  if (servers.length === 0) return NO_SERVERS;
  const rows = servers.map((server) => {
    const state = stateOf(server);
    const paint = state === "ready" ? colors.green : state === "off" ? colors.dim : colors.yellow;
    return [colors.bold(oneLine(server.name)), paint(state), ...factsOf(server)];
  });
  const nameColumns = Math.max(...servers.map(({ name }) => columnsOf(oneLine(name))));
  const indent = " ".repeat(nameColumns + 4);
  const lines = alignColumns(rows).flatMap((line, index) => {
    const notes = servers.slice(index, index + 1).flatMap(notesOf);
    return [`${INDENT}${line}`, ...notes.flatMap((note) => dimmed(note, indent, style))];
  });
  return ["", ...lines];
}

function factsOf(server: ExaminedServer): string[] {
  const { transport, protocol = "", toolCount, generated, latencyMs, leftOutCount = 0 } = server;
  const tools = toolCount ?? generated;
  return [
    transport,
    protocol,
    tools === undefined ? "" : counted(tools, "tool"),
    latencyMs === undefined ? "" : duration(latencyMs),
    leftOutCount === 0 ? "" : `${leftOutCount} left out`,
  ];
}

/** Notes on a server: problems and changes, each followed by advice. */
export function notesOf(server: ExaminedServer): string[] {
  const { name, state, lastError, generated, changed, added, flagged } = server;
  const notes: string[] = [];
  if (state === "connecting" && lastError === undefined) notes.push("did not answer in time");
  // The state says that it is held back.
  else if (lastError !== undefined)
    notes.push(...errorNotes(lastError).slice(lastError.code === "FOLDER_UNTRUSTED" ? 1 : 0));
  if (state === "ready" && generated === undefined)
    notes.push(`its tools have no files yet: cem generate ${shellWord(name)}`);
  if (changed.length > 0) {
    const message = `changed, held back: ${names(changed)}`;
    notes.push(...errorNotes(withHint({ code: "TOOL_CHANGED", message, details: { server: name } })));
  }
  if (generated !== undefined && added.length > 0)
    notes.push(`new, without a file: ${names(added)}. cem generate ${shellWord(name)}`);
  for (const { tool, flags } of flagged) notes.push(...flags.map((flag) => flagNote(tool, flag)));
  return notes;
}

/** The message and the advice. That for a server that is down is to try it, which was just done. */
function errorNotes({ code, message, hint }: ErrorInfo): string[] {
  return [oneLine(message), ...((code === "SERVER_DOWN" ? undefined : hint)?.split("\n") ?? [])];
}

function flagNote(tool: string, { rule, place, excerpt }: { rule: string; place: string; excerpt: string }) {
  return `flagged: ${tool} (${rule}) ${place}: “${cut(oneLine(excerpt), MAX_EXCERPT_COLUMNS)}”`;
}

/** Renders the outcome of generating each server's files. */
export function renderGenerated(servers: readonly GeneratedServer[], style: Style): string[] {
  const { colors } = style;
  if (servers.length === 0) return NO_SERVERS;
  const nameColumns = Math.max(...servers.map(({ server }) => columnsOf(oneLine(server))));
  const indent = " ".repeat(nameColumns + 4);
  const lines = servers.flatMap((server) => {
    const name = padEnd(oneLine(server.server), nameColumns);
    const paint = server.state === "generated" ? String : colors.yellow;
    return [
      `${INDENT}${colors.bold(name)}  ${paint(summaryOf(server))}`,
      ...detailsOf(server).flatMap((note) => dimmed(note, indent, style)),
    ];
  });
  return ["", ...lines];
}

function summaryOf({ state, tools, directory, written, removed }: GeneratedServer): string {
  if (state === "error") return "error";
  const changes = joined(
    written.length > 0 && `${counted(written.length, "file")} written`,
    removed.length > 0 && `${removed.length} removed`,
  );
  return `${counted(tools, "tool")} in ${shortPath(directory)}, ${changes || "nothing to change"}`;
}

function detailsOf(server: GeneratedServer): string[] {
  const { server: name, state, changed, skipped, conflicts, warnings, flagged, error } = server;
  const verb = state === "held" ? "changed, held back" : "changed, accepted";
  return [
    ...(error === undefined ? [] : errorNotes(error)),
    ...changed.flatMap(({ tool, differences }) => [
      `${verb}: ${tool}`,
      ...differences.slice(0, MAX_LISTED).map(({ place, text }) => `  ${place}: ${oneLine(text)}`),
    ]),
    ...(state === "held" ? [`Accept what changed: cem generate ${shellWord(name)} --accept`] : []),
    ...listed(skipped.map((one) => `left out: ${one.name}: ${oneLine(one.reason)}`)),
    ...listed(conflicts.map((file) => `yours, left as it is: ${file}`)),
    ...listed(warnings.map(({ tool, message }) => `${tool}: ${oneLine(message)}`)),
    ...flagged.flatMap(({ tool, flags }) => flags.map((flag) => flagNote(tool, flag))),
  ];
}

function listed(notes: readonly string[]): string[] {
  const rest = notes.length - MAX_LISTED;
  return rest <= 0 ? [...notes] : [...notes.slice(0, MAX_LISTED), `… and ${rest} more`];
}

function names(list: readonly string[]): string {
  const rest = list.length - MAX_LISTED;
  return rest <= 0 ? list.join(", ") : `${list.slice(0, MAX_LISTED).join(", ")} and ${rest} more`;
}

function dimmed(note: string, indent: string, { colors, width }: Style): string[] {
  return wrapIndented(note, indent, width).map((line) => colors.dim(line));
}
