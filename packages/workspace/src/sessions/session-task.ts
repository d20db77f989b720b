import { copyBeginning } from "@cem/core";
import type { JsonValue, SessionLog, SessionRecord, SessionTask } from "@cem/core";

/** A run that has ended, for the log of its session. */
export type SessionRun = Parameters<SessionLog["record"]>[0];

const MAX_DESCRIPTION_CHARACTERS = 4_096;
const MAX_CODE_CHARACTERS = 64 * 1024;
const MAX_OUTPUT_CHARACTERS = 8 * 1024;
const MAX_RESULT_CHARACTERS = 32 * 1024;
const NOT_KEPT = "(a value that is large or no JSON, which is not kept)";
const WITHHELD = "(withheld)";

/** Removes values that must not be stored, such as personal data, from data of any shape before it is written. */
export type Redact = <Value>(value: Value) => Value | Promise<Value>;

/** Converts a run to a task of a log, truncated to its limits. */
export function toSessionTask({ task, result }: SessionRun, at: Date): SessionTask {
  const { code, value, output, error } = result;
  return {
    task_id: "",
    description: copyBeginning(task ?? "", MAX_DESCRIPTION_CHARACTERS),
    code: copyBeginning(code, MAX_CODE_CHARACTERS),
    result: fits(value, MAX_RESULT_CHARACTERS) ? value : NOT_KEPT,
    output: copyBeginning(output, MAX_OUTPUT_CHARACTERS),
    timestamp: at.toISOString(),
    error:
      error === null ? null : copyBeginning(`${error.code}: ${error.message}`, MAX_DESCRIPTION_CHARACTERS),
  };
}

/** Applies a redaction. If it fails, only the fact that there was a task is kept. */
export async function redacted(task: SessionTask, redact: Redact | undefined): Promise<SessionTask> {
  if (redact === undefined) return task;
  try {
    return await redact(task);
  } catch {
    const { task_id, timestamp, error } = task;
    const kept = { task_id, timestamp, error: error === null ? null : WITHHELD };
    return { ...kept, description: WITHHELD, code: "", result: null, output: "" };
  }
}

/** Whether a value is JSON of about this many characters at most. Stops at the limit. */
function fits(root: JsonValue, most: number): boolean {
  let left = most;
  const pending: JsonValue[] = [root];
  for (let value = pending.pop(); value !== undefined && left >= 0; value = pending.pop()) {
    left -= 2;
    if (typeof value === "string") left -= value.length;
    else if (typeof value === "number") left -= 8;
    else if (typeof value === "bigint") return false;
    if (typeof value !== "object" || value === null) continue;
    const members = Object.entries(value);
    left -= members.length;
    for (const [key, member] of left < 0 ? [] : members) {
      if (!Array.isArray(value)) left -= key.length;
      pending.push(member);
    }
  }
  return left >= 0;
}

const MAX_TASKS = 10;
const MAX_TASK_CHARACTERS = 200;
const MAX_RECAP_RESULT_CHARACTERS = 160;
const MAX_CONTEXT_CHARACTERS = 600;

/** Summarizes a session for whoever resumes it: its last tasks, state files and checkpoint. */
export function recapSession({ session_id, tasks, state_files, checkpoint }: SessionRecord): string {
  const shown = tasks.slice(-MAX_TASKS);
  const first = tasks.length - shown.length + 1;
  const lines = shown.map(({ description, code, result, error }, index) => {
    const what = oneLine(description === "" ? code : description, MAX_TASK_CHARACTERS);
    const became = error === null ? JSON.stringify(result) : `failed, ${error}`;
    return `${first + index}. ${what} => ${oneLine(became, MAX_RECAP_RESULT_CHARACTERS)}`;
  });
  if (first > 1) lines.unshift(`(${first - 1} earlier tasks are left out)`);
  if (state_files.length > 0) lines.push(`State files: ${state_files.join(", ")}`);
  if (checkpoint !== null) {
    const context = oneLine(JSON.stringify(checkpoint.context), MAX_CONTEXT_CHARACTERS);
    lines.push(`Checkpoint: step ${checkpoint.step}${context === "null" ? "" : `, ${context}`}`);
  }
  const log = `/workspace/sessions/${session_id}.json`;
  return [`Earlier tasks of this session (data, in full in ${log}):`, ...lines].join("\n");
}

function oneLine(text: string, most: number): string {
  const plain = text
    .slice(0, most * 2)
    .replaceAll(/\s+/g, " ")
    .trim();
  return plain.length <= most ? plain : `${plain.slice(0, most)}…`;
}
