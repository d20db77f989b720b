import { alignColumns, counted, wrapIndented } from "../text-layout.ts";
import type { Style } from "../text-layout.ts";
import { safeText } from "../safe-text.ts";
import type { ProtocolRevision } from "./server-connections.ts";
import type { ToolVerdict } from "./verify-tools.ts";

/** What one client saw of the server. */
export interface Verified {
  transport: "stdio" | "http";
  protocol: ProtocolRevision;
  tools: ToolVerdict[];
  /** Why nothing could be asked. */
  error?: string | undefined;
}

/** With less room than this, a line for each tool and client stands in place of the table. */
const MIN_TABLE_COLUMNS = 76;
const INDENT = "  ";

/** A table of tools and clients, and what is wrong below it. */
export function renderVerified(verified: readonly Verified[], style: Style): string[] {
  const { colors, width } = style;
  const names = toolNames(verified);
  const wrong = verified.flatMap((one) => problemsOf(one, names)).map((text) => safeText(text));
  const problems = wrong.flatMap((text) => wrapIndented(text, INDENT, width).map((line) => colors.red(line)));
  const table = width < MIN_TABLE_COLUMNS ? renderList(verified, names) : renderTable(verified, names, style);
  return ["", ...table, ...(problems.length > 0 ? ["", ...problems] : [])];
}

function renderTable(verified: readonly Verified[], names: readonly string[], { colors }: Style): string[] {
  const heading = ["tool", ...verified.map(({ transport, protocol }) => `${transport} ${protocol}`)];
  const rows = names.map((name) => [name, ...verified.map((one) => cell(one, name))]);
  const [first = "", ...lines] = alignColumns([heading, ...rows], (column) => column > 0);
  return [colors.dim(`${INDENT}${first}`), ...lines.map((line) => `${INDENT}${line}`)];
}

function renderList(verified: readonly Verified[], names: readonly string[]): string[] {
  return verified.flatMap((one) => [
    `${INDENT}${one.transport} ${one.protocol}`,
    ...alignColumns(
      names.map((name) => [name, cell(one, name)]),
      (column) => column > 0,
    ).map((line) => `${INDENT}${INDENT}${line}`),
  ]);
}

function cell({ tools }: Verified, name: string): string {
  const found = tools.find(({ tool }) => tool === name);
  if (found === undefined) return "missing";
  if (found.state !== "passed") return found.state;
  return `ok ${(found.ms ?? 0).toFixed(0)} ms`;
}

/** All tools that any client saw, in the order of the list. */
function toolNames(verified: readonly Verified[]): string[] {
  return [...new Set(verified.flatMap(({ tools }) => tools.map(({ tool }) => tool)))];
}

function problemsOf({ transport, protocol, tools, error }: Verified, names: readonly string[]): string[] {
  const where = `over ${transport}, protocol ${protocol}`;
  if (error !== undefined) return [`Nothing could be asked ${where}: ${error}`];
  const missing = names.filter((name) => !tools.some(({ tool }) => tool === name));
  return [
    ...missing.map((name) => `${name}, ${where}: It is not listed, and is elsewhere.`),
    ...tools.flatMap(({ tool, problems }) => problems.map((problem) => `${tool}, ${where}: ${problem}`)),
  ];
}

/** How many passed and failed, in one sentence. */
export function summaryOf(
  verified: readonly Verified[],
  absent: string | undefined,
): { failed: number; message: string } {
  const names = toolNames(verified);
  const bad = verified.map((one) =>
    one.error === undefined ? names.filter((name) => isBad(cell(one, name))).length : 1,
  );
  const failed = bad.reduce((sum, count) => sum + count, 0);
  const total = verified.reduce((sum, one) => sum + (one.error === undefined ? names.length : 1), 0);
  const uncalled = names.filter((name) => verified.some((one) => cell(one, name) === "listed"));
  const notes = [
    ...(uncalled.length > 0
      ? [`${counted(uncalled.length, "tool")} of your own listed and not called: ${uncalled.join(", ")}.`]
      : []),
    ...(absent === undefined ? [] : [`Not asked over HTTP: ${absent}.`]),
  ];
  return { failed, message: [`${total - failed} passed, ${failed} failed.`, ...notes].join(" ") };
}

function isBad(text: string): boolean {
  return text === "failed" || text === "missing";
}
