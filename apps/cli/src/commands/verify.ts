import path from "node:path";
import { rm } from "node:fs/promises";
import { toErrorInfo } from "@cem/core";
import { EXIT_FAILED, EXIT_OK } from "../errors.ts";
import type { Answer, CommandContext } from "../io/command-context.ts";
import { safeText } from "../render/text.ts";
import { alignColumns, counted, wrapIndented } from "../render/text.ts";
import type { Style } from "../render/text.ts";
import { configSourceOf } from "../run/config-source.ts";
import type { RemoveFile } from "../verify/verify-tools.ts";
import type { Connection, ProtocolRevision, ServerSetUp } from "../verify/server-connections.ts";
import type { ToolVerdict } from "../verify/verify-tools.ts";
import type { Profile } from "code-execution-mcp";
import { profileOption } from "./serve.ts";
import { addOptions, defineCommand } from "../command/define-command.ts";
import type { Given } from "../command/define-command.ts";
import { settingOptions } from "../command/options.ts";

/** `cem verify`: asks the server that `cem serve` starts as its clients do, over each transport and protocol. */
export const verify = defineCommand<{ profile?: Profile | undefined }>({
  name: "verify",
  group: "tools",
  about: "Try every tool of the server, as clients do",
  help: `
Starts the server that cem serve would be, over stdio and over HTTP, and asks it as clients of both generations of the
protocol do. Each tool that a server has by itself is called with something harmless; what that leaves is removed.
Tools of your own are only looked at. With a language model switched on, four short tasks are asked of it.

Examples:
  cem verify
  cem verify --profile code --json`,
  declare: (command) => addOptions(command, settingOptions()).addOption(profileOption()),
  run: verifyServer,
});

async function verifyServer(
  { profile, options }: Given<{ profile?: Profile | undefined }>,
  { signal, live }: CommandContext,
): Promise<Answer> {
  const { loadConfig } = await import("code-execution-mcp");
  const { cannotAskOverHttp, connectStdio, REVISIONS, serveHttp } =
    await import("../verify/server-connections.ts");
  const source = configSourceOf(options);
  const { configFile: file, config: overrides, trustFolder } = source;
  const { config } = await loadConfig({ file, overrides, trustFolder, signal });
  const setUp: ServerSetUp = { options, profile, source, config };
  const verified: Verified[] = [];
  const remove: RemoveFile = (name) => rm(path.join(config.execution.workspaceDir, name), { force: true });
  const ask = async (
    transport: Verified["transport"],
    connect: (revision: ProtocolRevision) => Promise<Connection>,
  ): Promise<void> => {
    for (const protocol of REVISIONS) {
      signal.throwIfAborted();
      live?.write(`  ${transport}, protocol ${protocol} …\n`);
      verified.push({ transport, protocol, ...(await askOver(() => connect(protocol), remove, signal)) });
    }
  };
  await ask("stdio", (revision) => connectStdio(revision, setUp));
  const absent = cannotAskOverHttp(setUp);
  if (absent === undefined) {
    const serving = await serveHttp(setUp);
    try {
      await ask("http", serving.connect);
    } finally {
      await serving.close();
    }
  }
  const { failed, message } = summaryOf(verified, absent);
  return {
    exitCode: failed === 0 ? EXIT_OK : EXIT_FAILED,
    data: {
      status: failed === 0 ? "success" : "error",
      error: failed === 0 ? null : { code: "DOCTOR_FOUND_BROKEN", message, details: { failed } },
      verified,
      absent: absent === undefined ? [] : [{ transport: "http", reason: absent }],
    },
    report: (style) => [...renderVerified(verified, style), "", ...(failed === 0 ? [`  ${message}`] : [])],
    brief: () => (failed === 0 ? message : ""),
    complaint: failed === 0 ? undefined : ({ colors }) => [colors.red(`  ${message}`)],
  };
}

/** Connects, looks at every tool, and disconnects. What fails on the way is the answer. */
async function askOver(
  connect: () => Promise<Connection>,
  remove: RemoveFile,
  signal: AbortSignal,
): Promise<Pick<Verified, "tools" | "error">> {
  try {
    const { verifyTools } = await import("../verify/verify-tools.ts");
    const connection = await connect();
    try {
      return { tools: await verifyTools(connection.client, remove, signal) };
    } finally {
      await connection.close();
    }
  } catch (thrown) {
    signal.throwIfAborted();
    return { tools: [], error: toErrorInfo(thrown).message };
  }
}

/** The findings of one client about the server. */
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
