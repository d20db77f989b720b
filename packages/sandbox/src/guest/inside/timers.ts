import type { BegunWork, Pending } from "./pending.ts";
import type { HostFunction, Primordials } from "./primordials.ts";

/** A timer that has not fired. */
interface SetTimer {
  callback: unknown;
  args: unknown[];
  isRepeated: boolean;
  ms: number;
  /** In milliseconds, as is the next. */
  dueAt: number;
  setAt: number;
  /** Absent when the run must not wait for it. */
  work: BegunWork | undefined;
  /** Whether it was stopped for good. */
  isStopped: boolean;
}

/** Adds timers and `queueMicrotask` to a realm. */
export function installTimers(
  primordials: Primordials,
  host: HostFunction,
  pending: Pending,
  actedAt: () => number,
  fail: (thrown: unknown) => void,
) {
  const { PromiseConstructor, SafeWeakMap, apply, constructors, create, defineValue } = primordials;
  const { max, promiseThen, resolved, symbols, toNumber } = primordials;
  /** Maximum wait for timers after the program returned a value, in milliseconds. */
  const VALUE_WAIT_MS = 1_000;
  /** The same for a program without a value. A longer timer is usually a timeout raced against another promise. */
  const WAIT_MS = 10_000;
  /**
   * Maximum time before the last firing of an interval in which nothing was printed or called and nothing ended: such an
   * interval does nothing.
   */
  const SILENT_MS = 1_000;
  const timers = create(null) as Record<number, SetTimer>;
  const ids = new SafeWeakMap<number>();
  /** Those of the program's objects, also after they have fired. */
  const known = new SafeWeakMap<SetTimer>();
  const { dispose, toPrimitive } = symbols;
  const now = (): number => host("now") as number;
  let nextId = 1;

  /** Returned by the functions that set timers, as Node's do. */
  class Timeout {
    ref(): this {
      const timer = timers[ids.get(this) ?? 0];
      if (timer !== undefined) waitFor(timer);
      return this;
    }
    unref(): this {
      const timer = timers[ids.get(this) ?? 0];
      if (timer !== undefined) forget(timer);
      return this;
    }
    refresh(): this {
      const timer = known.get(this);
      if (timer?.isStopped === false) schedule(timer, ids.get(this) as number);
      return this;
    }
    hasRef(): boolean {
      return timers[ids.get(this) ?? 0]?.work !== undefined;
    }
    close(): this {
      stop(this);
      return this;
    }
    [dispose](): void {
      stop(this);
    }
    [toPrimitive](): number {
      return ids.get(this) ?? 0;
    }
  }

  /** Whether it may still fire, also while the run waits for something else: it could go on for ever. */
  function isInTime({ isRepeated, dueAt }: SetTimer): boolean {
    const over = pending.over();
    if (over === undefined) return true;
    if (over.hasValue) return !isRepeated && dueAt <= over.at + VALUE_WAIT_MS;
    return dueAt <= over.at + WAIT_MS;
  }

  /** Makes the run wait for a timer. An interval, which never ends by itself, may be what a program without a value does. */
  function waitFor(timer: SetTimer): void {
    const { isRepeated, ms, setAt } = timer;
    const isSilent = (): boolean => timer.dueAt - ms - max(actedAt(), pending.endedAt(), setAt) > SILENT_MS;
    const isKept = (): boolean => isInTime(timer) && !(isRepeated && isSilent());
    timer.work ??= pending.begin("timer", isRepeated ? "setInterval" : "setTimeout", "", isKept);
  }

  function forget(timer: SetTimer): void {
    timer.work?.end();
    timer.work = undefined;
  }

  function start(callback: unknown, delay: unknown, args: unknown[], isRepeated: boolean): Timeout {
    if (typeof callback !== "function") {
      const error = new constructors.TypeError('The "callback" argument must be of type function.');
      defineValue(error, "code", "ERR_INVALID_ARG_TYPE", true);
      throw error;
    }
    const given = delay === undefined ? 0 : toNumber(delay);
    const ms = given > 0 ? given : 0;
    const own = { callback, args, isRepeated, ms, dueAt: 0, setAt: now(), work: undefined, isStopped: false };
    const timer = { __proto__: null, ...own } as never as SetTimer;
    const id = nextId;
    nextId += 1;
    schedule(timer, id);
    const timeout = new Timeout();
    ids.set(timeout, id);
    known.set(timeout, timer);
    return timeout;
  }

  function schedule(timer: SetTimer, id: number): void {
    const isUnref = timers[id] !== undefined && timer.work === undefined;
    timer.dueAt = now() + timer.ms;
    host("clearTimer", id);
    host("setTimer", id, timer.ms, timer.isRepeated);
    timers[id] = timer;
    if (!isUnref) waitFor(timer);
  }

  function stop(timeout: unknown): void {
    const isObject = typeof timeout === "object" && timeout !== null;
    const id = isObject ? ids.get(timeout) : toNumber(timeout);
    const timer = id === undefined ? undefined : timers[id];
    const stopped = timer ?? (isObject ? known.get(timeout) : undefined);
    if (stopped !== undefined) stopped.isStopped = true;
    if (id === undefined || timer === undefined) return;
    delete timers[id];
    host("clearTimer", id);
    forget(timer);
  }

  function guarded(callback: unknown, args: readonly unknown[]): () => void {
    return () => {
      try {
        apply(callback, globalThis, args);
      } catch (error) {
        fail(error);
      }
    };
  }

  const functions = {
    __proto__: null as never,
    setTimeout: (callback: unknown, ms: unknown, ...args: unknown[]) => start(callback, ms, args, false),
    setInterval: (callback: unknown, ms: unknown, ...args: unknown[]) => start(callback, ms, args, true),
    setImmediate: (callback: unknown, ...args: unknown[]) => start(callback, 0, args, false),
    clearTimeout: (timer: unknown) => stop(timer),
    clearInterval: (timer: unknown) => stop(timer),
    clearImmediate: (timer: unknown) => stop(timer),
    queueMicrotask(callback: unknown): void {
      if (typeof callback !== "function")
        throw new constructors.TypeError("queueMicrotask takes a function.");
      void promiseThen(resolved, guarded(callback, []));
    },
  } as unknown as Record<string, object>;
  for (const name in functions) defineValue(globalThis, name, functions[name], true);
  const sleep = (ms: unknown, value: unknown): Promise<unknown> =>
    new PromiseConstructor((resolve) => void start(resolve, ms, [value], false));
  const soon = (value: unknown): Promise<unknown> => sleep(0, value);
  defineValue(functions["setTimeout"] as object, symbols.promisify, sleep, false);
  defineValue(functions["setImmediate"] as object, symbols.promisify, soon, false);

  return {
    fire(id: number): void {
      const timer = timers[id];
      if (timer === undefined) return;
      // It stays in the list of what was stopped.
      if (!isInTime(timer)) return void host("clearTimer", id);
      if (timer.isRepeated) {
        timer.dueAt = now() + timer.ms;
        host("progress");
      } else {
        delete timers[id];
        forget(timer);
      }
      void promiseThen(resolved, guarded(timer.callback, timer.args));
    },
    isTimer: (value: object): boolean => ids.get(value) !== undefined,
  };
}
