import type { JsonValue, SessionCheckpoint, SessionRecord, SessionTask } from "@cem/core";

/** The folder of session logs in the workspace. */
export const SESSIONS_FOLDER = "sessions";
/** A second name of the log that was written last. */
export const CURRENT_FILE = "current_session.json";
const FILE_NAME = /^session_(\d{3,9})\.json$/;
const SESSION_ID = /^(?:session_)?0*(\d{1,9})$/;
const MAX_TEXT_CHARACTERS = 1024 * 1024;
const NUMBER_DIGITS = 3;

/** The number of a session by the name of its file. */
export function sessionNumber(fileName: string): number | undefined {
  const found = FILE_NAME.exec(fileName)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** The id of a session by its number: `session_001`. */
export function sessionId(number: number): string {
  return `session_${String(number).padStart(NUMBER_DIGITS, "0")}`;
}

/** The number in a session's id as people write it: `session_001`, `001`, `1`. */
export function parseSessionId(id: string): number | undefined {
  const found = SESSION_ID.exec(id)?.[1];
  return found === undefined ? undefined : Number(found);
}

type Members = Record<string, unknown>;

/** Reads a session's log, which guest code may have changed. `undefined` when it is none. */
export function toSessionRecord(text: string): SessionRecord | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isMembers(parsed) || typeof parsed["session_id"] !== "string") return undefined;
  const { tasks, state_files: files } = parsed;
  return {
    session_id: textOf(parsed["session_id"]),
    customer_uid: typeof parsed["customer_uid"] === "string" ? textOf(parsed["customer_uid"]) : null,
    started_at: textOf(parsed["started_at"]),
    ended_at: typeof parsed["ended_at"] === "string" ? textOf(parsed["ended_at"]) : null,
    tasks: Array.isArray(tasks) ? tasks.filter(isMembers).map(toTask) : [],
    state_files: Array.isArray(files) ? files.filter((file) => typeof file === "string") : [],
    checkpoint: isMembers(parsed["checkpoint"]) ? toCheckpoint(parsed["checkpoint"]) : null,
  };
}

function toTask(task: Members): SessionTask {
  return {
    task_id: textOf(task["task_id"]),
    description: textOf(task["description"]),
    code: textOf(task["code"]),
    result: (task["result"] ?? null) as JsonValue,
    output: textOf(task["output"]),
    timestamp: textOf(task["timestamp"]),
    error: typeof task["error"] === "string" ? textOf(task["error"]) : null,
  };
}

function toCheckpoint({ step, last_task: last, context, timestamp }: Members): SessionCheckpoint {
  return {
    step: typeof step === "number" && Number.isFinite(step) ? step : 0,
    last_task: typeof last === "string" ? textOf(last) : null,
    context: (context ?? null) as JsonValue,
    timestamp: textOf(timestamp),
  };
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, MAX_TEXT_CHARACTERS) : "";
}
