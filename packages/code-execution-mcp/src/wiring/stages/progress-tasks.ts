import { redactionTokensIn } from "@cem/core";
import type { CodeGenerator, Redactor, SessionLog, SessionRecord } from "@cem/core";

export type ProgressTask =
  | { kind: "save"; file: string }
  /** `step` is absent for the step after the last one. */
  | { kind: "continue"; step: number | undefined };

const DEFAULT_FILE = "state.json";
const MAX_TASK_CHARACTERS = 200;
const MAX_TASKS = 100;
const FILE = String.raw`(?:/workspace/|\./)?((?:[\w-][\w.-]{0,79}/){0,4}[\w-][\w.-]{0,79}\.json)`;
const SAVE = new RegExp(
  `^(?:please )?save (?:the |my |our )?(?:current )?progress(?: so far)?(?: (?:to|in|into) ${FILE})?(?:,? (?:and |then )continue)?$`,
  "i",
);
const CONTINUE =
  /^(?:please )?(?:continue|resume|go on)(?: (?:from|at|with) step (\d{1,6})| (?:from )?where (?:we|you|i) left off)$/i;

/** Reads a task about a session's progress; `undefined` for any other. */
export function readProgressTask(task: string): ProgressTask | undefined {
  if (task.length > MAX_TASK_CHARACTERS) return undefined;
  const text = task.trim().replace(/[.!]$/, "");
  const saved = SAVE.exec(text);
  if (saved !== null) return { kind: "save", file: saved[1] ?? DEFAULT_FILE };
  const continued = CONTINUE.exec(text);
  if (continued === null) return undefined;
  return { kind: "continue", step: continued[1] === undefined ? undefined : Number(continued[1]) };
}

/** Lets the rules generator save and resume the progress of a session, based on its log. */
export function withProgressTasks(
  generator: CodeGenerator,
  sessionLog: SessionLog | undefined,
  redactor: Redactor | undefined,
): CodeGenerator {
  if (sessionLog === undefined) return generator;
  return {
    specificationVersion: "v1",
    async generate(request) {
      const { session } = request;
      const asked = readProgressTask(request.task);
      if (asked === undefined) return generator.generate(request);
      const progress = JSON.stringify(progressOf(await sessionLog.read(session)), undefined, 2);
      const own = await withoutDeadTokens(progress, redactor, session);
      const code = asked.kind === "save" ? saveCode(asked.file, own) : continueCode(asked.step, own);
      return { status: "generated", code, origin: "rules", uses: [] };
    },
  };
}

/** Progress of a session: its last tasks with their results and errors, without tasks about progress. */
function progressOf(record: SessionRecord | undefined) {
  const tasks = (record?.tasks ?? [])
    .filter(({ description }) => readProgressTask(description) === undefined)
    .map(({ description, result, error }) => ({
      task: description.slice(0, MAX_TASK_CHARACTERS),
      result,
      error,
    }));
  const step = record?.checkpoint?.step ?? tasks.length;
  return { session: record?.session_id ?? null, step, tasks: tasks.slice(-MAX_TASKS) };
}

/**
 * Replaces tokens whose values are no longer known by the kind of the value. A log contains tokens, and the process that
 * knew their values may have ended.
 */
async function withoutDeadTokens(
  text: string,
  redactor: Redactor | undefined,
  session: string | undefined,
): Promise<string> {
  const target = { session, server: "workspace", tool: "save", isKept: true };
  let result = "";
  let from = 0;
  for (const { start, end } of redactionTokensIn(text)) {
    const token = text.slice(start, end);
    const isKnown = await redactor?.detokenize(token, target).then(
      () => true,
      () => false,
    );
    if (isKnown === true) continue;
    result += `${text.slice(from, start)}[${/[A-Z][A-Z_]+/u.exec(token)?.[0] ?? "REDACTED"}]`;
    from = end;
  }
  return result + text.slice(from);
}

/** Other members of the file are kept. */
function saveCode(file: string, progress: string): string {
  return `const file = ${JSON.stringify(`/workspace/${file}`)};
const progress = ${progress};
const text = await Deno.readTextFile(file).catch((error) => {
  if (error instanceof Deno.errors.NotFound) return "{}";
  throw error;
});
const state = JSON.parse(text.trim() || "{}");
// A counter that was never saved with progress counts something else.
const step = state.progress === undefined ? (state.step ?? progress.step) : progress.step;
const saved = { ...state, step, progress: { ...progress, saved_at: new Date().toISOString() } };
await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
await Deno.writeTextFile(file, JSON.stringify(saved, null, 2));
return saved;
`;
}

/** Resumes the saved progress if this session has done nothing yet. */
function continueCode(step: number | undefined, progress: string): string {
  return `const own = ${progress};
const state = JSON.parse(await Deno.readTextFile("/workspace/${DEFAULT_FILE}").catch(() => "{}"));
const { tasks, step: done } = own.tasks.length > 0 || !state.progress?.tasks ? own : state.progress;
if (tasks.length === 0) throw new Error("There is no earlier progress to continue from.");
const step = ${step ?? "done + 1"};
return { step, earlier: tasks.slice(0, step - 1), state };
`;
}
