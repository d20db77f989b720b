import type { AnnouncedCall, ErrorInfo, TaskResult } from "@cem/core";
import type { QueuedRun } from "./protocol.ts";

/** The result of a run of which no result came from a worker. */
export function unrunResult(
  run: QueuedRun,
  error: ErrorInfo,
  calls: readonly AnnouncedCall[] = [],
): TaskResult {
  return {
    status: "error",
    value: null,
    output: "",
    outputDroppedBytes: 0,
    error,
    code: run.kind === "code" ? run.input : "",
    origin: run.kind === "code" ? "given" : "rules",
    selectedTools: [],
    availableTools: 0,
    toolCalls: calls.map(({ server, tool }) => ({ server, tool, ms: 0, ok: false })),
    isolation: null,
    timings: {},
    contextTokens: { direct: 0, used: 0, saved: 0 },
  };
}

/** What a run is told whose worker was lost after it may have changed something. */
export function interrupted(calls: readonly AnnouncedCall[], why: string): ErrorInfo {
  const made = calls.map(({ server, tool }) => `${server}.${tool}`);
  const shown = made.length === 0 ? "No tool was called" : `It had called ${made.join(", ")}`;
  return {
    code: "RUN_INTERRUPTED",
    message: `${why} ${shown}. It was not repeated: look at what was done, then run it again.`,
    details: { calls: made },
  };
}
