import { randomBytes } from "node:crypto";
import { statusOfRun, toErrorInfo } from "@cem/core";
import type {
  AuditEvent,
  AuditLog,
  EndedRun,
  ExecuteOptions,
  RunRequest,
  TaskResult,
  Verdict,
} from "@cem/core";
import { auditDigest } from "@cem/core/telemetry";
import type { Program, RunContext, Stages } from "./stages.ts";

type Identified = ExecuteOptions & { runId: string };

export function withRunId(options: ExecuteOptions): Identified {
  return { ...options, runId: options.runId ?? createRunId() };
}

/** Executes a run and reports its end for its record. */
export async function recorded(
  { settings: { recordRun } }: Stages,
  { runId: id, session, owner, record }: Identified,
  asked: Pick<EndedRun, "kind" | "input">,
  carryOut: () => Promise<TaskResult>,
): Promise<TaskResult> {
  if (recordRun === undefined || record === false) return carryOut();
  const [startedAt, started] = [new Date(), performance.now()];
  const end = (ending: Pick<EndedRun, "result" | "error">): void =>
    recordRun({ id, ...asked, startedAt, ms: performance.now() - started, session, owner, ...ending });
  try {
    const result = await carryOut();
    end({ result });
    return result;
  } catch (error) {
    end({ error: toErrorInfo(error) });
    throw error;
  }
}

const RUN_ID_BYTES = 9;

export function createRunId(): string {
  return `run-${randomBytes(RUN_ID_BYTES).toString("base64url")}`;
}

/** The audit log of a run, and the fields that identify the run in it. */
async function auditOf({ id: run, options: { session }, stages }: RunContext) {
  return { audit: await stages.audit?.get(), subject: { run, session } };
}

/** Records that a run began. A run that can't be recorded is not executed. */
export async function recordStart(
  context: RunContext,
  { kind, input }: { kind: "task" | "code"; input: string },
): Promise<void> {
  const { audit, subject } = await auditOf(context);
  audit?.record({ type: "run-started", ...subject, kind, input: audited(audit, input) });
}

export async function recordVerdict(
  context: RunContext,
  { code, origin }: Program,
  { allowed, findings }: Verdict,
): Promise<void> {
  const { audit, subject } = await auditOf(context);
  if (audit === undefined) return;
  const found = findings.map(({ rule, severity, line }) => ({ rule, severity, line }));
  const reviewed = { allowed, origin, code: audited(audit, code), findings: found };
  audit.record({ type: "verdict", ...subject, ...reviewed });
}

/** Records calls of tools that run in the sandbox. Calls of host tools are recorded on the host. */
export async function localCallRecorder(context: RunContext): Promise<RunRequest["onToolCall"]> {
  const { audit, subject } = await auditOf(context);
  if (audit === undefined) return undefined;
  return ({ server, tool, ok, ms, place }) => {
    if (place === "guest") audit.record({ type: "call", ...subject, server, tool, ok, ms });
  };
}

/** Records how a run ended: with a result, or because a stage could not be created or used. */
export async function recordEnd(context: RunContext, result?: TaskResult, thrown?: unknown): Promise<void> {
  const { audit, subject } = await auditOf(context);
  const error = result === undefined ? toErrorInfo(thrown).code : result.error?.code;
  const calls = result?.toolCalls.length ?? 0;
  const ms = result?.timings.total ?? 0;
  audit?.record({ type: "run-ended", ...subject, status: statusOfRun(result, thrown), error, calls, ms });
}

function audited(audit: AuditLog, text: string): Extract<AuditEvent, { type: "refusal" }>["args"] {
  return { types: "string", bytes: Buffer.byteLength(text), digest: auditDigest(audit, text) };
}
