import { setTimeout as delay } from "node:timers/promises";
import { abandonOnAbort, CemError, RunClock, toErrorInfo } from "@cem/core";
import type { Elicit, ErrorInfo, JsonObject, JsonValue } from "@cem/core";
import type { NewRecord } from "../runs/journal.ts";
import type { StepAtWork } from "./execution.ts";
import { errorOfStep, leavesUncertain, notRetried, RunInterrupted, stepUncertain } from "./failures.ts";
import { isContainer, scopeOf } from "./requests.ts";
import type { StepEnd, StepRequest } from "./requests.ts";
import { executeStep } from "./step-kinds.ts";

/** A longer timer would end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

interface StepRunSettings extends Omit<StepRequest, "scope"> {
  path: string;
}

/** One step, with its attempts and what follows them. Its journal is written before anything happens, and after. */
export class StepRun {
  readonly #settings: StepRunSettings;
  readonly #isIdempotent: boolean;
  readonly #started = performance.now();

  constructor(settings: StepRunSettings) {
    this.#settings = settings;
    const { step, execution } = settings;
    this.#isIdempotent =
      isContainer(step) ||
      (step.isIdempotent ?? execution.settings.kinds.get(step.type)?.isIdempotent ?? false);
  }

  /** Leaves the step out, since one it depends on was. */
  leaveOut(): StepEnd {
    const { execution, path } = this.#settings;
    const { outcomes, emit } = execution.settings;
    if (outcomes.of(path) === undefined) this.#append({ type: "step-skipped", step: path });
    emit({ type: "step-skipped", step: path });
    return { status: "skipped" };
  }

  /** @throws RunInterrupted */
  async run(): Promise<StepEnd> {
    this.#throwIfInterrupted();
    const { execution, path } = this.#settings;
    const { outcomes, emit } = execution.settings;
    const known = outcomes.of(path);
    if (known?.status === "success") {
      const { value = null, error } = known;
      emit({ type: "step-completed", step: path, ms: 0, isKnown: true, error });
      return { status: "success", value, error };
    }
    if (known?.status === "skipped") {
      emit({ type: "step-skipped", step: path, error: known.error });
      return { status: "skipped", error: known.error };
    }
    if (known?.isUncertain === true && !this.#isIdempotent) {
      const end = await this.#decide();
      if (end !== undefined) return end;
    }
    return this.#attempt(known?.attempts ?? 0);
  }

  /** Decides about a step that may have been executed. `undefined`: it is repeated. */
  async #decide(): Promise<StepEnd | undefined> {
    const { execution, path, at } = this.#settings;
    const { decisions, id } = execution.settings;
    const decision = decisions.repeat.has(path)
      ? "repeat"
      : decisions.done.has(path)
        ? "done"
        : await askAboutStep(execution.asker(at), path, at.signal);
    if (decision === "repeat") return undefined;
    if (decision !== "done") throw new RunInterrupted(stepUncertain(id, path));
    const value = await execution.tokenize(decisions.done.get(path) ?? null);
    this.#append({ type: "step-completed", step: path, value, isToldByUser: true });
    return { status: "success", value };
  }

  /** @param before - How often earlier processes tried it. */
  async #attempt(before: number): Promise<StepEnd> {
    const { step, path, execution } = this.#settings;
    const { retry, onError } = step;
    const attempts = onError === "retry" ? retry.attempts : 1;
    for (let attempt = 1; ; attempt += 1) {
      const failed = await this.#once(before + attempt);
      if ("value" in failed) return this.#completed(failed.value);
      const { error, isUncertain } = failed;
      if (attempt >= attempts || isUncertain) {
        const isCut = attempt < attempts;
        return this.#failed(isCut ? notRetried(error) : error);
      }
      const delayMs = retry.delayMs * retry.backoff ** (attempt - 1);
      execution.settings.emit({ type: "step-retrying", step: path, attempt: attempt + 1, delayMs, error });
      const { signal } = this.#settings.at;
      for (let left = delayMs; left > 0 && !signal.aborted; left -= MAX_TIMER_MS)
        await delay(Math.min(left, MAX_TIMER_MS), undefined, { signal }).catch(() => {});
      this.#throwIfInterrupted();
    }
  }

  async #once(attempt: number): Promise<{ value: JsonValue } | { error: ErrorInfo; isUncertain: boolean }> {
    const { step, execution, path } = this.#settings;
    const { journal, emit } = execution.settings;
    const isEffect = !isContainer(step);
    if (isEffect) {
      this.#append({ type: "step-started", step: path, attempt });
      await this.#guarded(() => journal.flush());
    }
    emit({ type: "step-started", step: path, kind: step.type, attempt });
    try {
      return { value: await this.#inTime() };
    } catch (thrown) {
      if (thrown instanceof RunInterrupted) throw thrown;
      this.#throwIfInterrupted();
      const error = await execution.tokenize(toErrorInfo(thrown));
      if (error.code === "AGENT_DISPOSED") throw new RunInterrupted(error);
      const isUncertain = isEffect && !this.#isIdempotent && leavesUncertain(error);
      this.#append({ type: "step-failed", step: path, attempt, error, ...(isUncertain && { isUncertain }) });
      return { error, isUncertain };
    }
  }

  /** Executes the step within its time, and within that of what is around it. */
  async #inTime(): Promise<JsonValue> {
    const { step, execution, workflow, outer, path, runList, at: around } = this.#settings;
    const { guardrails } = step;
    const part =
      step.type === "workflow" ? execution.settings.parts.get(step.config["workflow"] as string) : undefined;
    const timeoutMs = Math.min(step.timeoutMs ?? Infinity, part?.timeoutMs ?? Infinity);
    const controller = new AbortController();
    const clock =
      timeoutMs === Infinity
        ? undefined
        : new RunClock(timeoutMs, () => controller.abort(this.#timedOut(timeoutMs)));
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
    const { name } = step;
    const scope = scopeOf(outer, { name, idempotency_key: execution.idempotencyKey(path) });
    try {
      const work = executeStep({ execution, workflow, step, outer, scope, at, runList });
      // The steps within a container end by themselves, and must have ended before the next begins.
      return await (isContainer(step) ? work : abandonOnAbort(work, signal));
    } catch (error) {
      // An agent's error about a cancelled run does not give the reason of the cancellation.
      if (controller.signal.aborted && !around.signal.aborted) throw controller.signal.reason;
      throw error;
    } finally {
      clock?.stop();
    }
  }

  #timedOut(timeoutMs: number): CemError {
    const { path } = this.#settings;
    const message = `Step ${path} took longer than its timeout of ${timeoutMs / 1_000} s.`;
    return new CemError("WORKFLOW_STEP_TIMED_OUT", message, { details: { step: path, timeoutMs } });
  }

  #completed(value: JsonValue): StepEnd {
    const { path, execution } = this.#settings;
    this.#append({ type: "step-completed", step: path, value });
    execution.settings.emit({ type: "step-completed", step: path, ms: this.#ms(), isKnown: false });
    return { status: "success", value };
  }

  #failed(error: ErrorInfo): StepEnd {
    const { step, path, execution } = this.#settings;
    const { emit } = execution.settings;
    const { onError } = step;
    if (onError === "continue") {
      this.#append({ type: "step-completed", step: path, value: null, error });
      emit({ type: "step-completed", step: path, ms: this.#ms(), isKnown: false, error });
      return { status: "success", value: null, error };
    }
    if (onError !== "stop" && onError !== "retry") {
      this.#append({ type: "step-skipped", step: path, error });
      emit({ type: "step-skipped", step: path, error });
      return { status: "skipped", error };
    }
    emit({ type: "step-failed", step: path, ms: this.#ms(), error });
    return { status: "error", error: errorOfStep(error, path) };
  }

  #ms(): number {
    return performance.now() - this.#started;
  }

  #append(record: NewRecord): void {
    const { journal, outcomes } = this.#settings.execution.settings;
    try {
      // A step around this one that is tried again goes on from here.
      outcomes.add(journal.append(record));
    } catch (error) {
      throw new RunInterrupted(toErrorInfo(error));
    }
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw new RunInterrupted(toErrorInfo(error));
    }
  }

  /** @throws RunInterrupted once the run is cancelled or its time is over. */
  #throwIfInterrupted(): void {
    const { signal } = this.#settings.execution.settings;
    if (signal.aborted) throw new RunInterrupted(toErrorInfo(signal.reason));
    // The step around it took too long.
    this.#settings.at.signal.throwIfAborted();
  }
}

/** The decision about a step that may have been executed. */
export type Decision = "repeat" | "done" | "stop";

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
async function askAboutStep(ask: Elicit, step: string, signal: AbortSignal): Promise<Decision> {
  const message = `Step ${step} had begun when its run was ended, so it may have been executed.`;
  const answer = await ask({
    server: "workflow",
    message,
    signal,
    mode: "form",
    requestedSchema: SCHEMA,
  }).catch(() => undefined);
  const decision = answer?.action === "accept" ? answer.content?.["decision"] : undefined;
  return decision === "repeat" || decision === "done" ? decision : "stop";
}
