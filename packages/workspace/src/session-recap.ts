import type { SessionRecord } from "@cem/core";

const MAX_TASKS = 10;
const MAX_TASK_CHARACTERS = 200;
const MAX_RESULT_CHARACTERS = 160;
const MAX_CONTEXT_CHARACTERS = 600;

/** What a session's tasks did, in few words, for whoever goes on with it. */
export function recapSession({ session_id, tasks, state_files, checkpoint }: SessionRecord): string {
  const shown = tasks.slice(-MAX_TASKS);
  const first = tasks.length - shown.length + 1;
  const lines = shown.map(({ description, code, result, error }, index) => {
    const what = oneLine(description === "" ? code : description, MAX_TASK_CHARACTERS);
    const became = error === null ? JSON.stringify(result) : `failed, ${error}`;
    return `${first + index}. ${what} => ${oneLine(became, MAX_RESULT_CHARACTERS)}`;
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
