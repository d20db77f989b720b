import type { RunOutcome, STATUSES, TaskResult, ToolCall, ToolResult } from "@cem/core";
import { MS_PER_SECOND, statusOfRun } from "@cem/core";
import { failSpan, keepTrace, measure, traced } from "@cem/core/telemetry";

/** Executes a run within a span, and counts it by its result. */
export function traceRun(kind: "task" | "code", work: () => Promise<TaskResult>): Promise<TaskResult> {
  const attributes = { "cem.run.kind": kind };
  return traced(`cem.run ${kind}`, { attributes }, async (span) => {
    const started = performance.now();
    let result: TaskResult | undefined;
    let thrown: unknown;
    try {
      result = await work();
    } catch (error) {
      thrown = error;
      throw error;
    } finally {
      countRun({ kind, status: statusOfRun(result, thrown) }, result, performance.now() - started);
    }
    const { attempts, error, isolation, origin, status, toolCalls } = result;
    span.setAttributes({
      "cem.run.status": status,
      "cem.run.origin": origin,
      "cem.run.tool_calls": toolCalls.length,
      ...(isolation === null ? {} : { "cem.run.isolation": isolation.level }),
      ...(attempts === undefined ? {} : { "cem.run.attempts": attempts }),
    });
    if (error !== null) failSpan(span, error.code);
    return result;
  });
}

function countRun(
  { kind, status }: { kind: "task" | "code"; status: keyof typeof STATUSES },
  result: TaskResult | undefined,
  ms: number,
): void {
  measure("runs", 1, { kind, status, isolation: result?.isolation?.level ?? "none" });
  measure("runDuration", ms / MS_PER_SECOND, { kind });
  if (result === undefined) return;
  if (result.error !== null) measure("refusals", 1, { code: result.error.code });
  for (const { ok } of result.toolCalls) measure("toolCalls", 1, { ok: String(ok) });
  measure("tokensKeptOut", result.contextTokens.saved);
}

/** Runs a program within a span for its guest. The guest itself reports no telemetry: the host sees begin, end and calls. */
export function traceGuest(run: () => Promise<RunOutcome>): Promise<RunOutcome> {
  return traced("cem.guest", {}, async (span) => {
    const outcome = await run();
    span.setAttributes({ "cem.guest.outcome": outcome.status, "cem.run.isolation": outcome.isolation.level });
    if (outcome.status !== "completed") failSpan(span, outcome.status);
    return outcome;
  });
}

/**
 * Captures the current trace for tool calls, which arrive in messages of the guest, outside of any trace.
 *
 * @returns a function that makes a call within a span.
 */
export function callTracer(): (call: ToolCall, make: () => Promise<ToolResult>) => Promise<ToolResult> {
  const inTrace = keepTrace();
  const attributes = { "gen_ai.operation.name": "execute_tool" };
  return (call, make) =>
    inTrace(() =>
      traced("execute_tool", { attributes }, async (span) => {
        const result = await make();
        // Code may call any name. Names that are not tools are not reported.
        if (result.ok || !UNKNOWN_TOOL.has(result.error.code)) {
          span.updateName(`execute_tool ${call.tool}`);
          span.setAttributes({ "gen_ai.tool.name": call.tool, "cem.tool.server": call.server });
        }
        if (!result.ok) failSpan(span, result.error.code);
        return result;
      }),
    );
}

const UNKNOWN_TOOL: ReadonlySet<string> = new Set([
  "TOOL_NOT_FOUND",
  "SERVER_NOT_FOUND",
  "TOOL_NOT_ALLOWED",
  "UNEXPECTED",
]);
