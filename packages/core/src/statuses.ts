import type { ToolCallRecord } from "./invocation.ts";

/** The statuses of work, with their meaning. Each kind of work uses some of them. */
export const STATUSES = {
  waiting: "It is in the queue until a worker takes it.",
  running: "It is being carried out.",
  asking: "It waits for a person's answer.",
  success: "It is done, and its result is there.",
  error: "It failed.",
  refused: "It was not carried out, for a stated reason.",
  timeout: "It exceeded its timeout.",
  cancelled: "It was ended by its client, or with the run that it belongs to.",
  interrupted: "Its process ended before it did. It can be resumed.",
  unreadable: "Its files are damaged. It can't be resumed.",
  skipped: "A step of a workflow that was left out.",
} as const;

export type Status = keyof typeof STATUSES;

/**
 * How a task ended. `error`: it failed. `refused`: its code was not written or not run, for a stated reason. `timeout`:
 * the run exceeded its timeout.
 */
export type TaskStatus = Extract<Status, "success" | "error" | "refused" | "timeout">;

/** Returns the status of an ended run: that of its result, or of the thrown error when there is none. */
export function statusOfRun(
  result: { status: Exclude<RecordedStatus, "cancelled">; error: { code: string } | null } | undefined,
  thrown?: unknown,
): RecordedStatus {
  const { status, error } = result ?? {
    status: "error",
    error: thrown as { code?: unknown } | null | undefined,
  };
  return status === "error" && error?.code === "ABORTED" ? "cancelled" : status;
}

/** The statuses of a run that has ended. */
export const RECORDED_STATUSES = ["success", "error", "refused", "timeout", "cancelled"] as const;

export type RecordedStatus = (typeof RECORDED_STATUSES)[number];

/** The status of a call that has ended. */
export function statusOfCall({ ok, isCancelled }: Pick<ToolCallRecord, "ok" | "isCancelled">) {
  if (ok) return "success";
  return isCancelled === true ? "cancelled" : "error";
}
