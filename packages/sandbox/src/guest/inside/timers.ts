import type { Primordials } from "./primordials.ts";

/** A timer that has not fired. */
export interface SetTimer {
  callback: unknown;
  args: unknown[];
  isRepeated: boolean;
  /** Whether the run is to wait for it. */
  isRef: boolean;
  ms: number;
  /** In milliseconds; never for an interval. */
  dueAt: number;
  /** Its stack says where it was set. */
  place: Error;
  /** Whether the race that it was set for is decided, if there is one. */
  race: { isDecided: boolean } | undefined;
}

export interface TimerSettings {
  host(operation: string, id: number, ms?: number, isRepeated?: boolean): unknown;
  /** In milliseconds. */
  now(): number;
  /** Takes each timer that is set. */
  noteTimer(timer: SetTimer): void;
  fail(thrown: unknown): void;
}

/** The timers of one realm. */
export interface Timers {
  fire(id: number): void;
  isTimer(value: object): boolean;
  areWaitedFor(hasValue: boolean): boolean;
  /** Lists those that the run waits for and those that it stops, as the items of JSON arrays. */
  list(hasValue: boolean): { kept: string; stopped: string };
}

/** Puts timers into a realm, and `queueMicrotask`. */
export function installTimers(
  primordials: Primordials,
  { host, now, noteTimer, fail }: TimerSettings,
): Timers {
  const { PromiseConstructor, SafeWeakMap, apply, constructors, create, defineValue, keys } = primordials;
  const { max, promiseThen, quote, toNumber } = primordials;
  /** The longest wait for a timer once the program has its value, or once its race is decided. */
  const TIMER_WAIT_MS = 1_000;
  /** The most timers that are listed. */
  const MAX_LISTED = 20;
  const settled = promiseThen(new PromiseConstructor<void>((resolve) => resolve()), () => {});
  const timers = create(null) as Record<number, SetTimer>;
  const ids = new SafeWeakMap<number>();
  const round = Math.round;
  const { toPrimitive } = primordials.symbols;
  let nextId = 1;

  /** What the functions that set timers give, as Node's do. */
  class Timeout {
    ref(): this {
      return setRef(this, true);
    }
    unref(): this {
      return setRef(this, false);
    }
    hasRef(): boolean {
      return timers[ids.get(this) ?? 0]?.isRef === true;
    }
    refresh(): this {
      const id = ids.get(this) ?? 0;
      const timer = timers[id];
      if (timer === undefined) return this;
      host("clearTimer", id);
      begin(id, timer);
      return this;
    }
    close(): this {
      stop(this);
      return this;
    }
    [toPrimitive](): number {
      return ids.get(this) ?? 0;
    }
  }

  function setRef<Target extends object>(timeout: Target, isRef: boolean): Target {
    const timer = timers[ids.get(timeout) ?? 0];
    if (timer !== undefined) timer.isRef = isRef;
    host("progress", 0);
    return timeout;
  }

  function begin(id: number, timer: SetTimer): void {
    timer.dueAt = timer.isRepeated ? Infinity : now() + timer.ms;
    host("setTimer", id, timer.ms, timer.isRepeated);
  }

  function start(callback: unknown, delay: unknown, args: unknown[], isRepeated: boolean): Timeout {
    if (typeof callback !== "function") {
      const error = new constructors.TypeError('The "callback" argument must be of type function.');
      defineValue(error, "code", "ERR_INVALID_ARG_TYPE", true);
      throw error;
    }
    const given = delay === undefined ? 0 : toNumber(delay);
    const ms = given > 0 ? given : 0;
    const timer: SetTimer = {
      __proto__: null,
      callback,
      args,
      isRepeated,
      isRef: true,
      ms,
      dueAt: 0,
      place: new constructors.Error(),
      race: undefined,
    } as never;
    const id = nextId;
    nextId += 1;
    begin(id, timer);
    timers[id] = timer;
    noteTimer(timer);
    const timeout = new Timeout();
    ids.set(timeout, id);
    return timeout;
  }

  function stop(timeout: unknown): void {
    const isObject = typeof timeout === "object" && timeout !== null;
    const id = isObject ? ids.get(timeout) : toNumber(timeout);
    if (id === undefined || timers[id] === undefined) return;
    delete timers[id];
    host("clearTimer", id);
    host("progress", 0);
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
      void promiseThen(settled, guarded(callback, []));
    },
  } as unknown as Record<string, object>;
  for (const name in functions) defineValue(globalThis, name, functions[name], true);
  const sleep = (ms: unknown, value: unknown): Promise<unknown> =>
    new PromiseConstructor((resolve) => void start(resolve, ms, [value], false));
  const soon = (value: unknown): Promise<unknown> => sleep(0, value);
  defineValue(functions["setTimeout"] as object, primordials.symbols.promisify, sleep, false);
  defineValue(functions["setImmediate"] as object, primordials.symbols.promisify, soon, false);

  /** An interval never ends by itself, and what is `unref`ed is not to be waited for. */
  const isListed = ({ isRepeated, isRef }: SetTimer): boolean => !isRepeated && isRef;
  const isKept = ({ dueAt, race }: SetTimer, hasValue: boolean): boolean =>
    (!hasValue && race?.isDecided !== true) || dueAt - now() <= TIMER_WAIT_MS;

  return {
    fire(id) {
      const timer = timers[id];
      if (timer === undefined) return;
      if (!timer.isRepeated) delete timers[id];
      // On a stack without frames of the guest.
      void promiseThen(settled, guarded(timer.callback, timer.args));
    },
    isTimer: (value) => ids.get(value) !== undefined,
    areWaitedFor(hasValue) {
      for (const id in timers) {
        const timer = timers[id] as SetTimer;
        if (isListed(timer) && isKept(timer, hasValue)) return true;
      }
      return false;
    },
    list(hasValue) {
      const names = keys(timers);
      let kept = "";
      let stopped = "";
      let listed = 0;
      for (let index = 0; index < names.length && listed < MAX_LISTED; index += 1) {
        const timer = timers[names[index] as unknown as number] as SetTimer;
        if (!isListed(timer)) continue;
        listed += 1;
        const leftMs = max(0, round(timer.dueAt - now()));
        const stack = quote(primordials.toText(timer.place.stack));
        const text = `{"kind":"timer","server":"","name":"setTimeout","leftMs":${leftMs},"stack":${stack}}`;
        if (isKept(timer, hasValue)) kept += kept === "" ? text : `,${text}`;
        else stopped += stopped === "" ? text : `,${text}`;
      }
      return { kept, stopped };
    },
  };
}
