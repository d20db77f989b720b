import { createHash, randomBytes } from "node:crypto";
import { toErrorInfo, toolId } from "@cem/core";
import type { AuditedValue, TaskResult, ToolCallRecord, ToolDefinition, Verdict } from "@cem/core";
import type { Program, RunContext } from "./run-context.ts";

const RUN_ID_BYTES = 9;

/** An id that logs name a run by. */
export function createRunId(): string {
  return `run-${randomBytes(RUN_ID_BYTES).toString("base64url")}`;
}

/** Records that a run began. What can't be recorded is not run. */
export async function recordStart(
  { id: run, options: { session }, stages }: RunContext,
  { kind, input }: { kind: "task" | "code"; input: string },
): Promise<void> {
  const audit = await stages.audit?.get();
  audit?.record({ type: "run-started", run, session, kind, input: audited(input) });
  await audit?.flush?.();
}

/** Records what the review said of code. */
export async function recordVerdict(
  { id: run, options: { session }, stages }: RunContext,
  { code, origin }: Program,
  { allowed, findings }: Verdict,
): Promise<void> {
  const audit = await stages.audit?.get();
  const found = findings.map(({ rule, severity, line }) => ({ rule, severity, line }));
  audit?.record({ type: "verdict", run, session, allowed, origin, code: audited(code), findings: found });
}

/** Records calls of tools whose code runs in the sandbox. Those on the host are recorded there. */
export async function localCallRecorder(
  { id: run, options: { session }, stages }: RunContext,
  tools: readonly ToolDefinition[],
): Promise<((call: ToolCallRecord) => void) | undefined> {
  const audit = await stages.audit?.get();
  if (audit === undefined) return undefined;
  const onHost = hostToolsOf(tools);
  return ({ server, tool, ok, ms }) => {
    if (!onHost.has(toolId({ server, name: tool })))
      audit.record({ type: "call", run, session, server, tool, ok, ms });
  };
}

/** Records how a run ended. */
export async function recordEnd(
  { id: run, options: { session }, stages }: RunContext,
  result: TaskResult,
): Promise<void> {
  const audit = await stages.audit?.get();
  const { status, error, toolCalls, timings } = result;
  const ms = timings.total ?? 0;
  audit?.record({ type: "run-ended", run, session, status, error: error?.code, calls: toolCalls.length, ms });
  await audit?.flush?.();
}

/** Records that a stage could not be created or used. */
export async function recordFailure(
  { id: run, options: { session }, stages }: RunContext,
  thrown: unknown,
): Promise<void> {
  const audit = await stages.audit?.get();
  const { code } = toErrorInfo(thrown);
  audit?.record({ type: "run-ended", run, session, status: "error", error: code, calls: 0, ms: 0 });
  await audit?.flush?.();
}

/** A catalog's list of tools stays the same object while nothing changes. */
const hostTools = new WeakMap<readonly ToolDefinition[], ReadonlySet<string>>();

function hostToolsOf(tools: readonly ToolDefinition[]): ReadonlySet<string> {
  const known = hostTools.get(tools);
  if (known !== undefined) return known;
  const onHost = tools.filter(({ kind }) => kind === "host");
  const ids = new Set(
    onHost.map(({ server, name, originalName = name }) => toolId({ server, name: originalName })),
  );
  hostTools.set(tools, ids);
  return ids;
}

function audited(text: string): AuditedValue {
  return {
    types: "string",
    bytes: Buffer.byteLength(text),
    sha256: createHash("sha256").update(text).digest("hex"),
  };
}
