import { rm } from "node:fs/promises";
import path from "node:path";
import { toErrorInfo } from "@cem/core";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { configSourceOf } from "../config-source.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import type { InvocationOf } from "../invocation.ts";
import type { RemoveFile } from "../verify/harmless-calls.ts";
import { renderVerified, summaryOf } from "../verify/render-verified.ts";
import type { Verified } from "../verify/render-verified.ts";
import { cannotAskOverHttp, connectStdio, PROTOCOLS, serveHttp } from "../verify/server-connections.ts";
import type { Connection, ProtocolRevision, ServerSetUp } from "../verify/server-connections.ts";
import { verifyTools } from "../verify/verify-tools.ts";

const REVISIONS = Object.keys(PROTOCOLS) as ProtocolRevision[];

/** `cem verify`: asks the server that `cem serve` would be as its clients do, over each transport and protocol. */
export async function verify(
  { profile, options }: InvocationOf<"verify">,
  { signal, live }: CommandContext,
): Promise<Answer> {
  const { loadConfig } = await import("code-execution-mcp");
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
