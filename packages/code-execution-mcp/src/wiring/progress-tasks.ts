import type { CodeGenerator, GeneratedCode, GenerateRequest, SessionLog, SessionRecord } from "@cem/core";

/** "Save current progress to state.json and continue" */
const SAVE =
  /^(?:please )?save (?:the |my |our )?(?:current |latest )?progress(?: (?:to|in|into) (?:\/workspace\/)?([\w.-]{1,80}\.json))?(?:,? (?:and|then) (?:continue|go on|carry on))?$/i;
/** "Continue from step 2" */
const CONTINUE =
  /^(?:please )?(?:continue|resume|go on|carry on)(?: (?:the )?(?:work|workflow|task|session))? (?:from|at|with) step (\d{1,6})$/i;
const DEFAULT_FILE = "state.json";
const MAX_TASK_CHARACTERS = 200;
const MAX_TASKS = 100;

/** Lets a generator by rules do tasks about the progress of a session, which its log tells. */
export function withProgressTasks(
  generator: CodeGenerator,
  sessionLog: SessionLog | undefined,
): CodeGenerator {
  if (sessionLog === undefined) return generator;
  return {
    specificationVersion: "v1",
    async generate(request) {
      const code = await progressCode(request, sessionLog);
      if (code === undefined) return generator.generate(request);
      const generated: GeneratedCode = { status: "generated", code, origin: "rules", uses: [] };
      return generated;
    },
  };
}

async function progressCode(
  { task, session }: GenerateRequest,
  sessionLog: SessionLog,
): Promise<string | undefined> {
  const text = task
    .slice(0, MAX_TASK_CHARACTERS)
    .trim()
    .replace(/(?<![.!])[.!]+$/, "")
    .replaceAll(/\s+/g, " ");
  const saved = SAVE.exec(text);
  const step = CONTINUE.exec(text)?.[1];
  if (saved === null && step === undefined) return undefined;
  const progress = progressOf(await sessionLog.read(session));
  if (step !== undefined) return continueCode(Number(step), progress);
  return saveCode(saved?.[1] ?? DEFAULT_FILE, progress);
}

interface Progress {
  session: string | null;
  step: number;
  tasks: { task: string; result: unknown; error: string | null }[];
}

function progressOf(record: SessionRecord | undefined): Progress {
  const tasks = (record?.tasks ?? []).slice(-MAX_TASKS).map(({ description, result, error }) => ({
    task: description.slice(0, MAX_TASK_CHARACTERS),
    result,
    error,
  }));
  const step = record?.checkpoint?.step ?? record?.tasks.length ?? 0;
  return { session: record?.session_id ?? null, step, tasks };
}

function opening(file: string, progress: Progress): string {
  return `import { readFile, writeFile } from "node:fs/promises";

const file = ${JSON.stringify(`/workspace/${file}`)};
const text = await readFile(file, "utf8").catch(() => "{}");
const state: Record<string, any> = JSON.parse(text);
const progress: Record<string, any> = ${JSON.stringify(progress, undefined, 2)};
`;
}

function saveCode(file: string, progress: Progress): string {
  return `${opening(file, progress)}
const saved = { ...state, step: progress.step, progress: { ...progress, saved_at: new Date().toISOString() } };
await writeFile(file, JSON.stringify(saved, null, 2));
return saved;
`;
}

function continueCode(step: number, progress: Progress): string {
  return `${opening(DEFAULT_FILE, progress)}
const known = progress.tasks.length > 0 ? progress : (state.progress ?? progress);
const earlier = known.tasks.slice(0, ${Math.max(0, step - 1)});
const continued = { ...state, step: ${step} };
await writeFile(file, JSON.stringify(continued, null, 2));
return { step: ${step}, earlier, state: continued };
`;
}
