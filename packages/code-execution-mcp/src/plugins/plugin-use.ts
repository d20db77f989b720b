import { createContext, Script } from "node:vm";
import { abandonOnAbort, CemError } from "@cem/core";

const call = new Script("work()");
const TIMED_OUT = "ERR_SCRIPT_EXECUTION_TIMEOUT";

/** The work is run by a script since the clock of one can end what is synchronous, also an endless loop or pattern. */
let clock: { work?: () => unknown } | undefined;

/** Work that did not end in time. */
export class TimeLimitReached extends Error {
  override readonly name = "TimeLimitReached";
}

/**
 * Runs work that is synchronous, and ends it at a time limit. Costs a tenth of a millisecond.
 *
 * @throws TimeLimitReached, or what the work throws.
 */
export function runWithin<T>(limitMs: number, work: () => T): T {
  clock ??= createContext({});
  clock.work = work;
  try {
    return call.runInContext(clock, { timeout: limitMs }) as T;
  } catch (error) {
    const { code } = (error ?? {}) as { code?: unknown };
    if (code === TIMED_OUT) throw new TimeLimitReached(`It took longer than ${limitMs} ms.`);
    throw error;
  }
}

/** How often in a row a part may exceed its time limit before it is used no more. */
const MAX_TIMEOUTS = 2;
const MAX_PROBLEMS = 20;
const MS_PER_SECOND = 1_000;

/** Set-up time, uses and failures of a plugin, for reports. Times are in milliseconds. */
export interface PluginTimes {
  setupMs: number;
  /** How often a part was used, and for how long in all. */
  uses: number;
  useMs: number;
  failures: number;
}

/** How long a part may take, and who waits for it. */
interface CallLimits {
  timeoutMs: number;
  /** Ends the wait: the caller has given up, which is no failure of the plugin. */
  signal?: AbortSignal | undefined;
}

/** The use of one plugin: every call of it is timed and limited, and what goes wrong is noted under its name. */
export class PluginUse {
  readonly name: string;
  /** Whether nothing may run without the plugin. */
  readonly isRequired: boolean;
  readonly times: PluginTimes = { setupMs: 0, uses: 0, useMs: 0, failures: 0 };
  readonly #problems = new Set<string>();
  readonly #timeouts = new Map<string, number>();
  readonly #onProblem: (message: string) => void;

  constructor(name: string, isRequired: boolean, onProblem: (message: string) => void) {
    this.name = name;
    this.isRequired = isRequired;
    this.#onProblem = onProblem;
  }

  /** Problems, one sentence each. */
  get problems(): readonly string[] {
    return [...this.#problems];
  }

  /** Notes a problem, once. */
  note(message: string): void {
    if (this.#problems.has(message) || this.#problems.size >= MAX_PROBLEMS) return;
    this.#problems.add(message);
    this.#onProblem(message);
  }

  /**
   * Calls a part of the plugin.
   *
   * @param part - The kind of part, for messages: `guard`.
   * @param work - Gets a signal that aborts at the time limit or with the caller's.
   * @throws CemError `PLUGIN_FAILED`, `PLUGIN_TIMEOUT`, or the reason of the caller's signal.
   */
  async call<T>(
    part: string,
    { timeoutMs, signal }: CallLimits,
    work: (signal: AbortSignal) => T | Promise<T>,
  ): Promise<T> {
    this.#assertOn(part);
    signal?.throwIfAborted();
    const clock = new AbortController();
    const timer = setTimeout(() => clock.abort(new TimeLimitReached()), timeoutMs);
    const both = signal === undefined ? clock.signal : AbortSignal.any([clock.signal, signal]);
    const started = performance.now();
    try {
      const pending = runWithin(timeoutMs, () => work(both));
      const result = await abandonOnAbort(Promise.resolve(pending), both);
      this.#timeouts.delete(part);
      return result;
    } catch (error) {
      if (signal?.aborted === true && !clock.signal.aborted) throw error;
      throw this.#failure(part, error, timeoutMs);
    } finally {
      clearTimeout(timer);
      this.#count(started);
    }
  }

  /**
   * Calls a part that is synchronous.
   *
   * @throws CemError `PLUGIN_FAILED` or `PLUGIN_TIMEOUT`.
   */
  callNow<T>(part: string, timeoutMs: number, work: () => T): T {
    this.#assertOn(part);
    const started = performance.now();
    try {
      const result = runWithin(timeoutMs, work);
      this.#timeouts.delete(part);
      return result;
    } catch (error) {
      throw this.#failure(part, error, timeoutMs);
    } finally {
      this.#count(started);
    }
  }

  /** Times work that has limits of its own. */
  async time<T>(work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    try {
      return await work();
    } finally {
      this.#count(started);
    }
  }

  /** `PLUGIN_FAILED`: a part gave something that can't be used. Noted. */
  unusable(part: string, why: string): CemError {
    this.times.failures += 1;
    const message = `The ${part} of the plugin ${this.name} can't be used: ${why}.`;
    this.note(message);
    return new CemError("PLUGIN_FAILED", message, { details: { plugin: this.name, part } });
  }

  /** Whether a part is used no more. */
  isOff(part: string): boolean {
    return (this.#timeouts.get(part) ?? 0) >= MAX_TIMEOUTS;
  }

  #assertOn(part: string): void {
    if (!this.isOff(part)) return;
    const message = `The ${part} of the plugin ${this.name} is used no more: it exceeded its time limit ${MAX_TIMEOUTS} times in a row.`;
    this.note(message);
    throw new CemError("PLUGIN_TIMEOUT", message, { details: { plugin: this.name, part } });
  }

  #failure(part: string, error: unknown, timeoutMs: number): CemError {
    this.times.failures += 1;
    const details = { plugin: this.name, part };
    if (error instanceof TimeLimitReached) {
      this.#timeouts.set(part, (this.#timeouts.get(part) ?? 0) + 1);
      const message = `The ${part} of the plugin ${this.name} did not end within ${timeoutMs / MS_PER_SECOND} s.`;
      this.note(message);
      return new CemError("PLUGIN_TIMEOUT", message, { details: { ...details, timeoutMs } });
    }
    const message = `The ${part} of the plugin ${this.name} failed: ${reasonOf(error)}`;
    this.note(message);
    return new CemError("PLUGIN_FAILED", message, { details, cause: error });
  }

  #count(started: number): void {
    this.times.uses += 1;
    this.times.useMs += performance.now() - started;
  }
}

const MAX_REASON_CHARACTERS = 500;

/** Message of a thrown value, which may be of any type, also one that can't be turned into text. */
export function reasonOf(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message : String(error);
    return text.slice(0, MAX_REASON_CHARACTERS);
  } catch {
    return "it threw what has no text";
  }
}
