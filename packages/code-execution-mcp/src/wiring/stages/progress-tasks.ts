import { redactionTokensIn } from "@cem/core";
import type {
  CodeGenerator,
  GeneratedCode,
  GenerateRequest,
  Redactor,
  SessionLog,
  SessionRecord,
} from "@cem/core";

/** A task about the progress of a session. */
export type ProgressTask =
  | { kind: "save"; file: string }
  /** `step` is absent for the one behind the last. */
  | { kind: "continue"; step: number | undefined; file: string };

const DEFAULT_FILE = "state.json";
const MAX_TASK_CHARACTERS = 200;
const NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split(" ");

const ASKED = "(?:(?:please|now|then|ok|okay|let's|let us|can you|could you|would you),? ){0,3}";
const FILE = String.raw`(?:the )?(?:file )?(?:\/workspace\/|\.\/)?((?:[\w-][\w.-]{0,79}\/){0,4}[\w-][\w.-]{0,79}\.json)(?: file)?`;
const GO_ON =
  "(?:continue|resume|proceed|go on|carry on|keep going|move on|pick (?:it )?up|start again|restart)";
const WHOSE = "(?:(?:the|my|our|your|this|all) )?(?:current |latest |present |overall |saved )?";
const PROGRESS =
  "(?:progress|(?:session |work(?:flow)? )?state|where (?:we|you|i) (?:are|am)|what (?:we|you|i) (?:have|did|have done))";
const SO_FAR = "(?: (?:so far|up to now|until now|to date|made so far))?";
const WORK = "(?: (?:with )?(?:the |our |my |this )?(?:work|workflow|task|session|job|next step|it))?";

const SAVE = new RegExp(
  `^${ASKED}(?:save|store|write|persist|keep|record|dump|add|append|checkpoint) ${WHOSE}${PROGRESS}${SO_FAR}(?: (?:down )?(?:to|in|into|as|under) ${FILE})?(?:,? (?:and |then |and then )${GO_ON}${WORK})?(?:,? please)?$`,
  "i",
);
const LOAD = new RegExp(
  `^${ASKED}(?:load|read|restore|take) ${WHOSE}${PROGRESS}${SO_FAR}(?: from ${FILE})?,? (?:and |then |and then )${GO_ON}${WORK}$`,
  "i",
);
const FROM_STEP = new RegExp(
  `^${ASKED}${GO_ON}${WORK}(?: up)?,? (?:from|at|with|in) (?:the )?step (?:number |no\\.? )?(\\d{1,6}|${NUMBERS.join("|")})$`,
  "i",
);
const LEFT_OFF = new RegExp(
  `^${ASKED}(?:continue|resume|carry on|pick up)${WORK}(?: again)?(?: (?:from |at )?(?:the point )?where (?:we|you|i|it) (?:left|stopped|were)(?: off)?| (?:from|at|with) (?:the )?(?:(?:last|latest|next|saved) )?(?:step|checkpoint|progress)| from ${FILE})$`,
  "i",
);

/** Reads a task about a session's progress; `undefined` for any other. */
export function readProgressTask(task: string): ProgressTask | undefined {
  if (task.length > MAX_TASK_CHARACTERS) return undefined;
  const text = task
    .trim()
    .replace(/(?<![.!?])[.!?]+$/, "")
    .replaceAll(/\s+/g, " ");
  const saved = SAVE.exec(text);
  if (saved !== null) return { kind: "save", file: saved[1] ?? DEFAULT_FILE };
  const step = FROM_STEP.exec(text)?.[1];
  if (step !== undefined) return { kind: "continue", step: numberOf(step), file: DEFAULT_FILE };
  const left = LOAD.exec(text) ?? LEFT_OFF.exec(text);
  return left === null ? undefined : { kind: "continue", step: undefined, file: left[1] ?? DEFAULT_FILE };
}

function numberOf(step: string): number {
  const place = NUMBERS.indexOf(step.toLowerCase());
  return place < 0 ? Number(step) : place + 1;
}

const MAX_TASKS = 100;

/** Lets a generator by rules do tasks about the progress of a session, which is read from its log. */
export function withProgressTasks(
  generator: CodeGenerator,
  sessionLog: SessionLog | undefined,
  redactor: Redactor | undefined,
): CodeGenerator {
  if (sessionLog === undefined) return generator;
  return {
    specificationVersion: "v1",
    async generate(request) {
      const code = await progressCode(request, sessionLog, redactor);
      if (code === undefined) return generator.generate(request);
      const generated: GeneratedCode = { status: "generated", code, origin: "rules", uses: [] };
      return generated;
    },
  };
}

async function progressCode(
  { task, session }: GenerateRequest,
  sessionLog: SessionLog,
  redactor: Redactor | undefined,
): Promise<string | undefined> {
  const asked = readProgressTask(task);
  if (asked === undefined) return undefined;
  const progress = await withoutDeadTokens(progressOf(await sessionLog.read(session)), redactor, session);
  const code = asked.kind === "save" ? saveCode() : continueCode(asked.step);
  return opening(asked.file, progress) + code;
}

interface Progress {
  session: string | null;
  /** Number of tasks done, or the step of the last checkpoint. */
  done: number;
  /** Number of tasks left out at the beginning. */
  dropped: number;
  tasks: { task: string; result: unknown; error: string | null }[];
}

/** Progress of a session: its tasks with their results and errors, without tasks about progress. */
function progressOf(record: SessionRecord | undefined): Progress {
  const done = (record?.tasks ?? []).filter(({ description }) => readProgressTask(description) === undefined);
  const tasks = done.slice(-MAX_TASKS).map(({ description, result, error }) => ({
    task: description.slice(0, MAX_TASK_CHARACTERS),
    result,
    error,
  }));
  return {
    session: record?.session_id ?? null,
    done: record?.checkpoint?.step ?? done.length,
    dropped: done.length - tasks.length,
    tasks,
  };
}

/**
 * The progress with the kind of a value in place of its token, where the value is not known any more: a log has tokens, and
 * the process that knew their values may have ended.
 */
async function withoutDeadTokens(
  progress: Progress,
  redactor: Redactor | undefined,
  session: string | undefined,
): Promise<string> {
  const text = JSON.stringify(progress, undefined, 2);
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

/**
 * Reads the file and puts together what is in it and what this session did: `step` of the progress that was saved
 * last goes on with what was done since. What is no progress of ours stays as it is.
 */
function opening(file: string, progress: string): string {
  return `import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

const file = ${JSON.stringify(`/workspace/${file}`)};
const text: string = await readFile(file, "utf8").catch((error: any) => {
  if (error.code === "ENOENT") return "{}";
  throw error;
});
const left = "It was left as it is: mend it, or name another file, as in: Save current progress to progress.json";
const state: Record<string, any> = read(text);
const own: Record<string, any> = ${progress};

const isSaved = (value: any) => typeof value?.step === "number" && Array.isArray(value.tasks) && "session" in value;
const key = ["progress", "session_progress"].find((name) => state[name] === undefined || isSaved(state[name]));
const before = key === undefined ? undefined : state[key];
const isSame = before !== undefined && own.session !== null && before.session === own.session;
const total = (before?.step ?? 0) + (isSame ? Math.max(0, own.done - (before.done ?? before.step)) : own.done);
const tasks: any[] = isSame
  ? [...before.tasks.slice(0, Math.max(0, own.dropped - (before.dropped ?? 0))), ...own.tasks]
  : own.tasks;
const { earlier = [], ...latest } = before ?? {};
const sessions: any[] = isSame || before === undefined ? earlier : [...earlier, latest];
const isCounter = state.step === undefined || typeof state.step === "number";
// A counter that was never saved with progress counts something else.
const isForeign = before === undefined && state.step !== undefined;

function read(json: string): Record<string, any> {
  let value: any = {};
  try {
    if (json.trim() !== "") value = JSON.parse(json.replace(/^\\uFEFF/, ""), exact);
  } catch (error: any) {
    throw new Error(file + " can't be read as JSON: " + error.message + ". " + left);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new Error(file + " holds " + (Array.isArray(value) ? "a list" : "a single value") + ", to which no progress can be added. " + left);
}

function exact(name: string, value: any, written?: any): any {
  if (typeof value !== "number" || !Number.isInteger(value) || Number.isSafeInteger(value)) return value;
  throw new Error(name + " is " + (written?.source ?? value) + ", which would lose digits");
}

async function write(value: object): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file + ".new", JSON.stringify(value, null, 2));
  await rename(file + ".new", file);
}
`;
}

function saveCode(): string {
  return `
if (key === undefined) throw new Error(file + " has progress and session_progress of its own. " + left);
const { done, dropped, session } = own;
const step = isCounter && isForeign ? state.step : Math.max(total, isCounter ? state.step ?? 0 : 0);
const progress = {
  ...(isSame ? latest : {}),
  session,
  step,
  done,
  ...(dropped > 0 && { dropped }),
  tasks,
  ...(sessions.length > 0 && { earlier: sessions }),
  saved_at: new Date().toISOString(),
};
const saved = { ...state, ...(isCounter && { step }), [key]: progress };
await write(saved);
return saved;
`;
}

function continueCode(step: number | undefined): string {
  const chosen =
    step === undefined
      ? `
if (all.length === 0 && state.step === undefined) throw new Error("There is no earlier progress to continue from: neither this session nor " + file + " has any.");
const reached = isCounter ? state.step ?? 0 : 0;
const isNext = all.length > 0 && reached === total + 1;
const step = isNext ? reached : (isCounter && isForeign ? reached : Math.max(total, reached)) + 1;`
      : `
const step = ${step};`;
  return `
const all = [...sessions.flatMap(({ tasks }) => tasks), ...tasks];${chosen}
const continued = isCounter ? { ...state, step } : state;
if (isCounter) await write(continued);
return { step, earlier: all.slice(0, Math.max(0, step - 1)), state: continued };
`;
}
