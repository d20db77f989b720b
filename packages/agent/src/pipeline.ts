import { abandonOnAbort, callListener, CemError, Lazy, MAX_TIMER_MS, toErrorInfo } from "@cem/core";
import type { Agent, CatalogSnapshot, ErrorCode, ExecuteOptions, TaskResult } from "@cem/core";
import { toolsOf } from "./catalog.ts";
import { assertExecuteOptions } from "./execute-options.ts";
import { warm } from "./preparation.ts";
import { redacted, redactedTask } from "./redaction.ts";
import { recorded, withRunId } from "./run-recording.ts";
import { sessionOf, withRecap } from "./session-context.ts";
import { createStages, type OwnedPipelineSettings, type PipelineSettings, type Stages } from "./stages.ts";
import { createTaskRun } from "./task-run.ts";

/**
 * Joins stages into a pipeline from a task to its result.
 *
 * @param settings - The stages; or a function that creates them at the first request. If it fails, the request rejects with
 *   its error and the next request retries.
 * @returns An agent. Its requests reject with `AGENT_DISPOSED` after `dispose()`, with `TASK_EMPTY`, `CODE_EMPTY` or
 *   `QUERY_EMPTY` for an empty text, with `OPTION_INVALID` for an option that does not exist, and with the error of a stage
 *   that can't be created or used. Every other outcome is a `TaskResult`.
 */
export function createPipeline(
  settings: PipelineSettings | (() => Promise<OwnedPipelineSettings>),
): Agent & AsyncDisposable {
  const lazyStages = new Lazy(async () =>
    createStages(typeof settings === "function" ? await settings() : settings),
  );
  const requests = new Set<Promise<unknown>>();
  const disposal = new AbortController();
  let disposed: Promise<void> | undefined;

  /** Runs one request with the stages. Its signal aborts when the caller cancels or the pipeline is disposed. */
  const request = async <T>(
    { signal }: { signal?: AbortSignal | undefined },
    handle: (stages: Stages, signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    if (disposal.signal.aborted) throw disposedError();
    const signals = signal === undefined ? [] : [signal];
    const answer = lazyStages
      .get()
      .then((stages) => handle(stages, AbortSignal.any([disposal.signal, ...signals])));
    requests.add(answer);
    try {
      return await answer;
    } finally {
      requests.delete(answer);
    }
  };

  /** A read-only request. It does not wait for custom stages that ignore the signal. */
  const read: typeof request = (options, handle) =>
    request(options, (stages, signal) => abandonOnAbort(handle(stages, signal), signal));

  /** Runs a task or code on a workspace that is synchronized with other machines. */
  const run = (options: ExecuteOptions, asked: Parameters<typeof recorded>[2]) =>
    request(options, async (stages, signal) => {
      const { kind, input } = asked;
      const { sessionLog } = stages.settings;
      const work = async (): Promise<TaskResult> => {
        const heard = withRunId(heardBy(stages, options));
        const isRecalled = kind === "task" && sessionLog !== undefined;
        const informed = isRecalled ? await withRecap(input, heard, sessionLog) : heard;
        const result = await recorded(stages, heard, asked, () =>
          redacted(stages, informed, (own) => createTaskRun(stages, own, signal)[kind](input)),
        );
        if (sessionLog === undefined || options.record === false) return result;
        const task = kind === "task" ? await redactedTask(stages, input, options) : undefined;
        sessionLog.record({ task, result }, sessionOf(options));
        return result;
      };
      const { result, remarks } = await stages.workspace.during(work, { logsFollow: true, signal });
      return remarks.length === 0
        ? result
        : { ...result, warnings: [...(result.warnings ?? []), ...remarks] };
    });

  return {
    specificationVersion: "v1",
    async executeTask(task, options = {}) {
      requireText(task, "TASK_EMPTY", "The task is empty: say what should be done.");
      assertExecuteOptions(options, "executeTask");
      return run(options, { kind: "task", input: task });
    },
    async executeCode(code, options = {}) {
      requireText(code, "CODE_EMPTY", "The code is empty: there is nothing to run.");
      assertExecuteOptions(options, "executeCode");
      return run(options, { kind: "code", input: code });
    },
    discoverTools: (options = {}) =>
      read(options, async ({ catalog }, signal) => (await catalog.get()).list({ ...options, signal })),
    async searchTools(query, options = {}) {
      requireText(query, "QUERY_EMPTY", "The query is empty: say what the tool should do.");
      return read(options, async ({ catalog, selector }, signal) => {
        const snapshot = await (await catalog.get()).list({ signal });
        const [tools, catalogVersion] = [toolsOf(snapshot), snapshot.version];
        return (await selector.get()).search({ ...options, task: query, tools, catalogVersion, signal });
      });
    },
    saveSkill: (draft, options = {}) =>
      request(options, async (stages, signal) => {
        const { saveSkill } = stages.settings;
        if (saveSkill === undefined) throw new CemError("SKILLS_DISABLED", "Skills can't be saved here.");
        const save = async () => {
          const list = async (): Promise<CatalogSnapshot> => (await stages.catalog.get()).list({ signal });
          const tools = toolsOf(await abandonOnAbort(list(), signal));
          return saveSkill(draft, { ...options, tools, signal });
        };
        return (await stages.workspace.during(save, { signal })).result;
      }),
    checkpoint: (options = {}) =>
      request({}, async (stages, signal) => {
        const { sessionLog } = stages.settings;
        if (sessionLog === undefined)
          throw new CemError("SESSIONS_DISABLED", "Sessions are not logged here.");
        return (await stages.workspace.during(() => sessionLog.checkpoint(options), { signal })).result;
      }),
    warm: (options = {}) => keepingAlive(() => read(options, warm)),
    openResults: () =>
      request({}, async ({ settings: { results } }) => (typeof results === "function" ? results() : results)),
    sandboxStats: () => lazyStages.current?.sandbox.current?.stats?.(),
    [Symbol.asyncDispose]() {
      return this.dispose();
    },
    dispose() {
      disposal.abort(disposedError());
      disposed ??= keepingAlive(async () => {
        await Promise.allSettled(requests);
        await (await lazyStages.settled())?.dispose();
      });
      return disposed;
    },
  };
}

/** Keeps the process alive until the work is done, since starting and ending guests do not. */
async function keepingAlive<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => {}, MAX_TIMER_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** Also forwards events to the listener of all requests. */
function heardBy({ settings }: Stages, options: ExecuteOptions): ExecuteOptions {
  const listeners = [settings.onEvent, options.onEvent].filter((one) => one !== undefined);
  if (listeners.length === 0) return options;
  return {
    ...options,
    onEvent(event) {
      const warn = (error: unknown): void =>
        process.emitWarning(`onEvent threw at ${event.type}: ${toErrorInfo(error).message}`, "CemWarning");
      for (const listener of listeners) callListener(() => listener(event), warn);
    },
  };
}

function disposedError(): CemError {
  return new CemError("AGENT_DISPOSED", "The agent was disposed and can't run anything more.");
}

function requireText(text: unknown, code: ErrorCode, message: string): void {
  if (typeof text !== "string") {
    throw new CemError(code, `${message} A string is needed, not ${typeof text}.`);
  }
  if (text.trim() === "") throw new CemError(code, message);
}
