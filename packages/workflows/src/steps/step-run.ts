import { setTimeout as delay } from "node:timers/promises";
import { abandonOnAbort, CemError, createRunClock, MAX_TIMER_MS, toErrorInfo } from "@cem/core";
import type { Elicit, ErrorInfo, JsonObject, JsonValue } from "@cem/core";
import type { NewRecord } from "../runs/journal.ts";
import type { StepAtWork } from "./execution.ts";
import { errorOfStep, leavesUncertain, notRetried, RunInterrupted, stepsUncertain } from "./failures.ts";
import { isContainer, scopeOf, type StepEnd, type StepRequest } from "./requests.ts";
import { executeStep } from "./step-kinds.ts";

interface StepRunSettings extends Omit<StepRequest, "scope"> {
  path: string;
  /** Whether the step is skipped because one it depends on was. */
  isLeftOut: boolean;
}

/** Runs a step, with its retries and its error handling. Writes the journal before and after each action. @throws RunInterrupted */
export async function runStep(settings: StepRunSettings): Promise<StepEnd> {
  const { execution, workflow, step, outer, at: around, path, runList, isLeftOut } = settings;
  const { id, journal, outcomes, decisions, emit, kinds, parts, signal: ofRun } = execution.settings;
  const { name, guardrails, retry, onError } = step;
  const isEffect = !isContainer(step);
  const isIdempotent = !isEffect || (step.isIdempotent ?? kinds.get(step.type)?.isIdempotent ?? false);
  const started = performance.now();
  const ms = (): number => performance.now() - started;

  const append = (record: NewRecord): void => {
    try {
      // A retry of the enclosing step continues from here.
      outcomes.add(journal.append(record));
    } catch (error) {
      throw new RunInterrupted(toErrorInfo(error));
    }
  };

  /** @throws RunInterrupted once the run is cancelled or timed out. */
  const throwIfInterrupted = (): void => {
    if (ofRun.aborted) throw new RunInterrupted(toErrorInfo(ofRun.reason));
    // The step around it took too long.
    around.signal.throwIfAborted();
  };

  /** Decides about a step that may have been executed. `undefined`: it is repeated. */
  const decide = async (): Promise<StepEnd | undefined> => {
    const decision = decisions.repeat.has(path)
      ? "repeat"
      : decisions.done.has(path)
        ? "done"
        : await askAboutStep(execution.asker(around), path, around.signal);
    if (decision === "repeat") return undefined;
    if (decision !== "done") throw new RunInterrupted(stepsUncertain(id, [path]));
    const value = await execution.tokenize(decisions.done.get(path) ?? null);
    append({ type: "step-completed", step: path, value, isToldByUser: true });
    return { status: "success", value };
  };

  /** Executes the step within its own timeout and those of the enclosing steps. */
  const inTime = async (): Promise<JsonValue> => {
    const part = step.type === "workflow" ? parts.get(step.config["workflow"] as string) : undefined;
    const timeoutMs = Math.min(step.timeoutMs ?? Infinity, part?.timeoutMs ?? Infinity);
    const controller = new AbortController();
    const clock =
      timeoutMs === Infinity
        ? undefined
        : createRunClock(timeoutMs, () => controller.abort(timedOut(path, timeoutMs, onError)));
    clock?.start();
    const signal = clock === undefined ? around.signal : AbortSignal.any([around.signal, controller.signal]);
    const at: StepAtWork = {
      path,
      signal,
      guardrails: guardrails === undefined ? around.guardrails : [...around.guardrails, guardrails],
      setWaiting: (waiting) => {
        clock?.setWaiting(waiting);
        around.setWaiting(waiting);
      },
    };
    const scope = scopeOf(outer, { name, idempotency_key: execution.idempotencyKey(path) });
    try {
      const work = executeStep({ execution, workflow, step, outer, scope, at, runList });
      // Steps within a container end by themselves, and must have ended before the next step begins.
      return await (isEffect ? abandonOnAbort(work, signal) : work);
    } catch (error) {
      // An agent's error about a cancelled run does not give the reason of the cancellation.
      if (controller.signal.aborted && !around.signal.aborted) throw controller.signal.reason;
      throw error;
    } finally {
      clock?.stop();
    }
  };

  const once = async (attempt: number) => {
    if (isEffect) {
      append({ type: "step-started", step: path, attempt });
      await journal.flush().catch((error: unknown) => {
        throw new RunInterrupted(toErrorInfo(error));
      });
    }
    emit({ type: "step-started", step: path, kind: step.type, attempt });
    try {
      return { value: await inTime() };
    } catch (thrown) {
      if (thrown instanceof RunInterrupted) throw thrown;
      throwIfInterrupted();
      const error = await execution.tokenize(toErrorInfo(thrown));
      if (error.code === "AGENT_DISPOSED") throw new RunInterrupted(error);
      const isUncertain = isEffect && !isIdempotent && leavesUncertain(error);
      append({ type: "step-failed", step: path, attempt, error, ...(isUncertain && { isUncertain }) });
      return { error, isUncertain };
    }
  };

  const complete = (value: JsonValue, error?: ErrorInfo): StepEnd => {
    append({ type: "step-completed", step: path, value, error });
    emit({ type: "step-completed", step: path, ms: ms(), isKnown: false, error });
    return { status: "success", value, error };
  };

  const skip = (error?: ErrorInfo): StepEnd => {
    emit({ type: "step-skipped", step: path, error });
    return { status: "skipped", error };
  };

  const fail = (error: ErrorInfo): StepEnd => {
    if (onError === "continue") return complete(null, error);
    if (onError !== "stop" && onError !== "retry") {
      append({ type: "step-skipped", step: path, error });
      return skip(error);
    }
    emit({ type: "step-failed", step: path, ms: ms(), error });
    return { status: "error", error: errorOfStep(error, path) };
  };

  const known = outcomes.of(path);
  if (isLeftOut) {
    if (known === undefined) append({ type: "step-skipped", step: path });
    return skip();
  }
  throwIfInterrupted();
  if (known?.status === "success") {
    const { value = null, error } = known;
    emit({ type: "step-completed", step: path, ms: 0, isKnown: true, error });
    return { status: "success", value, error };
  }
  if (known?.status === "skipped") return skip(known.error);
  if (known?.isUncertain === true && !isIdempotent) {
    const end = await decide();
    if (end !== undefined) return end;
  }
  /** The number of attempts of earlier processes. */
  const before = known?.attempts ?? 0;
  const attempts = onError === "retry" ? retry.attempts : 1;
  for (let attempt = 1; ; attempt += 1) {
    const ended = await once(before + attempt);
    if ("value" in ended) return complete(ended.value);
    const { error, isUncertain } = ended;
    if (attempt >= attempts) return fail(error);
    if (isUncertain) return fail(notRetried(error));
    const delayMs = retry.delayMs * retry.backoff ** (attempt - 1);
    emit({ type: "step-retrying", step: path, attempt: attempt + 1, delayMs, error });
    const { signal } = around;
    for (let left = delayMs; left > 0 && !signal.aborted; left -= MAX_TIMER_MS)
      await delay(Math.min(left, MAX_TIMER_MS), undefined, { signal }).catch(() => {});
    throwIfInterrupted();
  }
}

function timedOut(step: string, timeoutMs: number, onError: string): CemError {
  const message = `Step ${step} took longer than its timeout of ${timeoutMs / 1_000} s.`;
  return new CemError("WORKFLOW_STEP_TIMED_OUT", message, { details: { step, timeoutMs, onError } });
}

const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    decision: {
      type: "string",
      title: "What to do with it",
      oneOf: [
        { const: "repeat", title: "Execute it again" },
        { const: "done", title: "Take it for done, without a result" },
        { const: "stop", title: "Stop here and look" },
      ],
    },
  },
  required: ["decision"],
};

/** Asks the user about a step that may have been executed. Without an answer the run stops. */
async function askAboutStep(ask: Elicit, step: string, signal: AbortSignal): Promise<unknown> {
  const message = `Step ${step} had begun when its run was ended, so it may have been executed.`;
  const question = { server: "workflow", message, signal, mode: "form", requestedSchema: SCHEMA } as const;
  const answer = await ask(question).catch(() => undefined);
  return answer?.action === "accept" ? answer.content?.["decision"] : undefined;
}
