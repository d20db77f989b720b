import type { CodeGenerator, GeneratedCode, GenerateRequest, SessionLog, SessionRecord } from "@cem/core";
import { readProgressTask } from "./progress-wordings.ts";

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
  const asked = readProgressTask(task);
  if (asked === undefined) return undefined;
  const progress = progressOf(await sessionLog.read(session));
  const code = asked.kind === "save" ? saveCode() : continueCode(asked.step);
  return opening(asked.file, progress) + code;
}

interface Progress {
  session: string | null;
  step: number;
  tasks: { task: string; result: unknown; error: string | null }[];
}

/** What a session did. Tasks about progress are no part of it. */
function progressOf(record: SessionRecord | undefined): Progress {
  const done = (record?.tasks ?? []).filter(({ description }) => readProgressTask(description) === undefined);
  const tasks = done.slice(-MAX_TASKS).map(({ description, result, error }) => ({
    task: description.slice(0, MAX_TASK_CHARACTERS),
    result,
    error,
  }));
  return { session: record?.session_id ?? null, step: record?.checkpoint?.step ?? done.length, tasks };
}

function opening(file: string, progress: Progress): string {
  return `import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

const file = ${JSON.stringify(`/workspace/${file}`)};
const text = await readFile(file, "utf8").catch(() => "{}");
const state: Record<string, any> = JSON.parse(text);
const progress: Record<string, any> = ${JSON.stringify(progress, undefined, 2)};
`;
}

function saveCode(): string {
  return `
const saved = { ...state, step: progress.step, progress: { ...progress, saved_at: new Date().toISOString() } };
await mkdir(dirname(file), { recursive: true });
await writeFile(file, JSON.stringify(saved, null, 2));
return saved;
`;
}

function continueCode(step: number | undefined): string {
  const chosen =
    step === undefined
      ? `
if (known.tasks.length === 0 && state.step === undefined) throw new Error("There is no earlier progress to continue from: neither this session nor " + file + " has any.");
const step = Number(progress.tasks.length > 0 ? progress.step : state.step ?? known.step) + 1;`
      : `
const step = ${step};`;
  return `
const known = progress.tasks.length > 0 ? progress : (state.progress ?? progress);${chosen}
const earlier = known.tasks.slice(0, Math.max(0, step - 1));
const continued = { ...state, step };
await mkdir(dirname(file), { recursive: true });
await writeFile(file, JSON.stringify(continued, null, 2));
return { step, earlier, state: continued };
`;
}
