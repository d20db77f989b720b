import type { ExaminedServer, GeneratedServer } from "code-execution-mcp/admin";
import { shortPath } from "./short-path.ts";
import { oneLine } from "./safe-text.ts";
import { counted, cut, duration, padEnd, wrap } from "./text-layout.ts";
import type { Style } from "./text-layout.ts";

const INDENT = "  ";
const MAX_EXCERPT_COLUMNS = 160;
const MAX_LISTED = 20;

/** How a server stands, in words. */
export function stateOf({ state }: Pick<ExaminedServer, "state">): string {
  switch (state) {
    case "ready":
      return "ready";
    case "connecting":
      return "no answer";
    case "auth-required":
      return "sign-in";
    case "disabled":
      return "off";
    default:
      return state;
  }
}

/** Every server on a line, with what is wrong and the way out below it. */
export function renderServers(servers: readonly ExaminedServer[], style: Style): string[] {
  const { colors } = style;
  if (servers.length === 0) {
    return ["", `${INDENT}No MCP server is configured. Add one: cem add <name> -- npx -y <server>`];
  }
  const nameColumns = Math.max(...servers.map(({ name }) => name.length));
  const lines = servers.flatMap((server) => {
    const state = stateOf(server);
    const paint = state === "ready" ? colors.green : state === "off" ? colors.dim : colors.yellow;
    const name = padEnd(oneLine(server.name), nameColumns);
    const facts = factsOf(server).join("  ");
    return [
      `${INDENT}${colors.bold(name)}  ${paint(padEnd(state, 9))}  ${facts}`.trimEnd(),
      ...notesOf(server).flatMap((note) => indented(note, nameColumns + 4, style)),
    ];
  });
  return ["", ...lines];
}

function factsOf(server: ExaminedServer): string[] {
  const { transport, protocol, toolCount, generated, latencyMs, leftOutCount = 0 } = server;
  const tools = toolCount === undefined ? generated : toolCount;
  return [
    padEnd(transport, 5),
    padEnd(protocol ?? "", 10),
    padEnd(tools === undefined ? "" : counted(tools, "tool"), 10),
    latencyMs === undefined ? "" : duration(latencyMs),
    leftOutCount === 0 ? "" : `${leftOutCount} left out`,
  ];
}

/** What is to be known about a server, each with its way out. */
export function notesOf(server: ExaminedServer): string[] {
  const { name, state, lastError, generated, changed, added, flagged } = server;
  const notes: string[] = [];
  if (state === "auth-required") notes.push(`wants a sign-in: run  cem auth ${name}`);
  else if (state === "connecting") notes.push("did not answer in time");
  else if (lastError !== undefined) notes.push(oneLine(lastError.message));
  if (state === "ready" && generated === undefined)
    notes.push(`its tools have no files yet: cem generate ${name}`);
  if (changed.length > 0) {
    notes.push(
      `changed, held back: ${names(changed)}. See how: cem generate ${name}   Accept: cem generate ${name} --accept`,
    );
  }
  if (generated !== undefined && added.length > 0)
    notes.push(`new, without a file: ${names(added)}. cem generate ${name}`);
  for (const { tool, flags } of flagged) notes.push(...flags.map((flag) => flagNote(tool, flag)));
  return notes;
}

function flagNote(
  tool: string,
  { rule, place, excerpt }: { rule: string; place: string; excerpt: string },
): string {
  return `flagged: ${tool} (${rule}) ${place}: “${cut(oneLine(excerpt), MAX_EXCERPT_COLUMNS)}”`;
}

/** What became of each server's files. */
export function renderGenerated(servers: readonly GeneratedServer[], style: Style): string[] {
  const { colors } = style;
  if (servers.length === 0) {
    return ["", `${INDENT}No MCP server is configured. Add one: cem add <name> -- npx -y <server>`];
  }
  const nameColumns = Math.max(...servers.map(({ server }) => server.length));
  const lines = servers.flatMap((server) => {
    const name = padEnd(oneLine(server.server), nameColumns);
    const paint = server.state === "generated" ? String : colors.yellow;
    return [
      `${INDENT}${colors.bold(name)}  ${paint(summaryOf(server))}`,
      ...detailsOf(server).flatMap((note) => indented(note, nameColumns + 4, style)),
    ];
  });
  return ["", ...lines];
}

function summaryOf({ state, tools, directory, written, removed }: GeneratedServer): string {
  if (state === "failed") return "failed";
  const changes = [
    ...(written.length > 0 ? [`${counted(written.length, "file")} written`] : []),
    ...(removed.length > 0 ? [`${removed.length} removed`] : []),
  ];
  return `${counted(tools, "tool")} in ${shortPath(directory)}, ${changes.join(", ") || "nothing to change"}`;
}

function detailsOf(server: GeneratedServer): string[] {
  const { server: name, state, changed, skipped, conflicts, warnings, flagged, learned, error } = server;
  const verb = state === "held" ? "changed, held back" : "changed, accepted";
  return [
    ...(error === undefined ? [] : [oneLine(error.message)]),
    ...changed.flatMap(({ tool, differences }) => [
      `${verb}: ${tool}`,
      ...differences.slice(0, MAX_LISTED).map(({ place, text }) => `  ${place}: ${oneLine(text)}`),
    ]),
    ...(state === "held" ? [`Accept what changed: cem generate ${name} --accept`] : []),
    ...listed(skipped.map((one) => `left out: ${one.name}: ${oneLine(one.reason)}`)),
    ...listed(conflicts.map((file) => `yours, left as it is: ${file}`)),
    ...listed(warnings.map(({ tool, message }) => `${tool}: ${oneLine(message)}`)),
    ...flagged.flatMap(({ tool, flags }) => flags.map((flag) => flagNote(tool, flag))),
    ...(learned === undefined ? [] : [learnedNote(learned)]),
  ];
}

function learnedNote(learned: readonly string[]): string {
  if (learned.length > 0) return `return types learned from results: ${names(learned)}`;
  return "results are looked at from now on; after some calls, --learn again writes their types";
}

function listed(notes: readonly string[]): string[] {
  const rest = notes.length - MAX_LISTED;
  return rest <= 0 ? [...notes] : [...notes.slice(0, MAX_LISTED), `… and ${rest} more`];
}

function names(list: readonly string[]): string {
  const rest = list.length - MAX_LISTED;
  return rest <= 0 ? list.join(", ") : `${list.slice(0, MAX_LISTED).join(", ")} and ${rest} more`;
}

function indented(note: string, columns: number, { colors, width }: Style): string[] {
  const indent = " ".repeat(columns);
  return wrap(note, width - columns).map((line) => `${indent}${colors.dim(line)}`);
}
