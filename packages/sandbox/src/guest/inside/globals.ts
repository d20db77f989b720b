import type { Membrane } from "./membrane.ts";
import type { Primordials } from "./primordials.ts";

/** What a realm's global functions need of the guest. */
export interface GlobalsSettings {
  /** The outer realm's global object. */
  outerGlobal: Record<string, unknown>;
  /** Names that the outer realm's global object has beside those of the language. */
  names: readonly string[];
  /** Those of them that can't be confined to one run: the guest is replaced after it. */
  unconfined: readonly string[];
  /** Notes that the guest is to be replaced after this run. */
  spend(): void;
  /** Prepares a global of the outer realm for programs. */
  prepareGlobal(name: string): void;
  /** Creates the object behind `console`. */
  makeConsole(): object;
  /** Runs a function later, once or again and again; gives the outer realm's timer. */
  setTimer(run: () => void, ms: number, isRepeated: boolean): unknown;
  clearTimer(timer: unknown): void;
  /** Reports an error that no code of the program can catch. */
  reportUncaught(thrown: unknown): void;
}

/** Puts into a realm what a program finds there beside the language. Most of it is made when it is first used. */
export function installGlobals(
  primordials: Primordials,
  membrane: () => Membrane,
  settings: GlobalsSettings,
): void {
  const { PromiseConstructor, apply, create, defineProperty, promiseThen } = primordials;
  const { outerGlobal, names, unconfined, spend, prepareGlobal, makeConsole } = settings;
  const { setTimer, clearTimer, reportUncaught } = settings;
  const evaluate = globalThis.eval;
  const settled = promiseThen(new PromiseConstructor<void>((resolve) => resolve()), () => {});

  function define(name: string, value: unknown, enumerable = true): void {
    defineProperty(globalThis, name, {
      __proto__: null,
      value,
      writable: true,
      enumerable,
      configurable: true,
    } as never);
  }

  /** Defines a property that is made when it is first read. */
  function defineLater(name: string, make: () => unknown): void {
    defineProperty(globalThis, name, {
      __proto__: null,
      get() {
        const value = make();
        define(name, value);
        return value;
      },
      set: (value: unknown) => define(name, value),
      enumerable: false,
      configurable: true,
    } as never);
  }

  function guarded(callback: unknown, args: unknown[]): () => void {
    return () => {
      try {
        if (typeof callback === "function") apply(callback as () => unknown, globalThis, args);
        else evaluate(`${callback as string}`);
      } catch (error) {
        reportUncaught(error);
      }
    };
  }

  const functions = {
    setTimeout: (callback: unknown, ms = 0, ...args: unknown[]) =>
      membrane().inward(setTimer(guarded(callback, args), +ms, false)),
    setInterval: (callback: unknown, ms = 0, ...args: unknown[]) =>
      membrane().inward(setTimer(guarded(callback, args), +ms, true)),
    setImmediate: (callback: unknown, ...args: unknown[]) =>
      membrane().inward(setTimer(guarded(callback, args), 0, false)),
    clearTimeout: (timer: unknown) => clearTimer(membrane().unwrap(timer)),
    clearInterval: (timer: unknown) => clearTimer(membrane().unwrap(timer)),
    clearImmediate: (timer: unknown) => clearTimer(membrane().unwrap(timer)),
    queueMicrotask(callback: () => void): void {
      if (typeof callback !== "function") throw new TypeError("queueMicrotask takes a function.");
      void promiseThen(settled, guarded(callback, []));
    },
  } as Record<string, unknown>;

  const events = (): Record<string, unknown> => {
    const make = membrane().inward(outerGlobal["EventTarget"]) as new () => Record<string, unknown>;
    const target = new make();
    for (const name of eventMethods) {
      const method = target[name] as (...args: unknown[]) => unknown;
      define(name, (...args: unknown[]) => apply(method, target, args));
    }
    return globalThis as never;
  };
  const eventMethods = ["addEventListener", "removeEventListener", "dispatchEvent"];

  const isUnconfined = create(null) as Record<string, boolean>;
  for (const name of unconfined) isUnconfined[name] = true;
  for (const name of names) {
    if (name.slice(0, 2) === "on") continue;
    defineLater(name, () => {
      if (isUnconfined[name] === true) spend();
      prepareGlobal(name);
      return membrane().inward(outerGlobal[name]);
    });
  }
  for (const name in functions) define(name, functions[name]);
  for (const name of eventMethods) {
    defineLater(name, () => {
      const all = events();
      return all[name];
    });
  }
  for (const name of ["self", "global"]) if (name in outerGlobal) define(name, globalThis, false);
  defineLater("console", () => membrane().inward(makeConsole()));
  // V8 takes it from the outer realm.
  defineProperty(Date.prototype, "toTemporalInstant", {
    value(this: Date): unknown {
      const { Temporal } = globalThis as unknown as {
        Temporal: { Instant: { fromEpochMilliseconds(ms: number): unknown } };
      };
      return Temporal.Instant.fromEpochMilliseconds(primordials.timeOf(this));
    },
    writable: true,
    configurable: true,
  });
}
