import type { ConsoleArguments } from "./console-arguments.ts";
import type { Membrane } from "./membrane-types.ts";
import type { Primordials } from "./primordials.ts";

type Callable = (...args: unknown[]) => unknown;

/** How a timer runs, and where it was set. */
export interface TimerSettings {
  isRepeated: boolean;
  /** Its stack has the place. */
  place: Error;
  /** The race that it was set for. */
  race?: Promise<unknown> | undefined;
}

/** Settings of {@link installGlobals}, provided by the guest. */
export interface GlobalsSettings {
  /** The outer realm's global object. */
  outerGlobal: Record<string, unknown>;
  /** Names that the outer realm's global object has beside those of the language. */
  names: readonly string[];
  /** Names of its enumerable members. */
  enumerable: readonly string[];
  /** Those of them that can't be confined to one run: the guest is replaced after it. */
  unconfined: readonly string[];
  /** Notes that the guest is to be replaced after this run. */
  spend(): void;
  /** Prepares a global of the outer realm for programs. */
  prepareGlobal(name: string): void;
  /** A function of the outer realm that gives the text of a value. */
  inspect: object;
  /** Creates the object behind `console`. */
  makeConsole(): object;
  /** Runs a function later, once or again and again; gives the outer realm's timer. */
  setTimer(run: () => void, ms: unknown, settings: TimerSettings): unknown;
  clearTimer(timer: unknown): void;
  /** Notes a timer of the runtime that ends a promise; gives a function that takes its end. */
  trackDelay(ms: number, settings: TimerSettings): () => void;
  /** Reports an error that no code of the program can catch. */
  reportUncaught(thrown: unknown): void;
  isOver(): boolean;
}

/** Parts of the realm that its global functions use. */
export interface GlobalsParts {
  consoleArguments: ConsoleArguments;
  /** Takes each timer that is set. */
  noteTimer(timer: TimerSettings): void;
}

/** A realm's own versions of what the runtime has. */
export interface Globals {
  /** Links the global functions with those of the outer realm. */
  link(membrane: Membrane): void;
  /** The realm's own version of an object of the runtime, by name; `undefined` if there is none. */
  replacement(name: string): object | undefined;
}

/** Puts into a realm what a program finds there beside the language. Most of it is made when it is first used. */
export function installGlobals(
  primordials: Primordials,
  membrane: () => Membrane,
  settings: GlobalsSettings,
  { consoleArguments, noteTimer }: GlobalsParts,
): Globals {
  const { PromiseConstructor, apply, constructors, create, defineAccessor } = primordials;
  const { defineProperty, defineValue, getPrototypeOf, promiseThen, setPrototypeOf, sliceText } = primordials;
  const { startsWith, timeOf, toNumber } = primordials;
  const { outerGlobal, names, enumerable, unconfined, spend, prepareGlobal, makeConsole } = settings;
  const { setTimer, clearTimer, reportUncaught, isOver } = settings;
  const settled = promiseThen(new PromiseConstructor<void>((resolve) => resolve()), () => {});
  const TypeErrorConstructor = TypeError;
  const CONSOLE_PREFIX = "console.";
  const PRINTING = "log info debug warn error trace dir dirxml group groupCollapsed".split(" ");

  /** Defines a property of the global object that is made when it is first read. */
  function defineLater(
    name: string,
    make: () => unknown,
    isEnumerable: boolean,
    on: object = globalThis,
  ): void {
    defineAccessor(
      on,
      name,
      () => {
        const value = make();
        defineValue(on, name, value, isEnumerable);
        return value;
      },
      (value) => void defineValue(globalThis, name, value, isEnumerable),
      isEnumerable,
    );
  }

  function guarded(callback: unknown, args: unknown[]): () => void {
    return () => {
      if (isOver()) return;
      try {
        apply(callback, globalThis, args);
      } catch (error) {
        reportUncaught(error);
      }
    };
  }

  /** @param name - The runtime's function, which says what is wrong with a callback. */
  function startTimer(name: string, callback: unknown, ms: unknown, args: unknown[]): unknown {
    if (typeof callback !== "function")
      return membrane().call(outerGlobal[name] as object, undefined, [callback]);
    const delay = ms === undefined ? ms : toNumber(ms);
    const isRepeated = name === "setInterval";
    const timer = { __proto__: null, isRepeated, place: new constructors.Error(), race: undefined };
    noteTimer(timer);
    return membrane().inward(setTimer(guarded(callback, args), delay, timer));
  }

  const stopTimer = (timer: unknown): void => clearTimer(membrane().unwrap(timer));

  const functions = {
    __proto__: null as never,
    setTimeout(callback: unknown, ms: unknown, ...args: unknown[]): unknown {
      return startTimer("setTimeout", callback, ms, args);
    },
    setInterval(callback: unknown, ms: unknown, ...args: unknown[]): unknown {
      return startTimer("setInterval", callback, ms, args);
    },
    setImmediate(callback: unknown, ...args: unknown[]): unknown {
      return startTimer("setImmediate", callback, 0, args);
    },
    clearTimeout: (timer: unknown) => stopTimer(timer),
    clearInterval: (timer: unknown) => stopTimer(timer),
    clearImmediate: (timer: unknown) => stopTimer(timer),
    queueMicrotask(callback: unknown): void {
      if (typeof callback !== "function") throw new TypeErrorConstructor("queueMicrotask takes a function.");
      void promiseThen(settled, guarded(callback, []));
    },
  } as unknown as Record<string, Callable>;

  // The global object takes part in events by a target of this realm.
  const eventMethods = ["addEventListener", "removeEventListener", "dispatchEvent"];
  let target: Record<string, Callable> | undefined;
  const eventTarget = (): Record<string, Callable> => {
    if (target !== undefined) return target;
    const type = membrane().inward(outerGlobal["EventTarget"], "runtime") as new () => Record<
      string,
      Callable
    >;
    target = new type();
    membrane().replace(membrane().unwrap(target) as object, globalThis);
    return target;
  };

  let console: object | undefined;
  const ownConsole = () => (console ??= withText(membrane().inward(makeConsole()) as object));

  /** Lets the console print objects as text that models read well. `table` and `dir` with options lay out as asked. */
  function withText(on: object): object {
    for (const name of PRINTING) {
      const printer = (on as Record<string, Callable>)[name] as Callable;
      const { [name]: method } = { [name]: (...args: unknown[]) => printText(printer, name, args) };
      defineValue(on, name, method, true);
    }
    return on;
  }

  function printText(printer: Callable, name: string, args: unknown[]): unknown {
    if (name === "dir" && args.length > 1) return apply(printer, undefined, args);
    return apply(printer, undefined, consoleArguments(args));
  }

  const replacements = {
    __proto__: null as never,
    console: ownConsole,
    inherits: () => inherits,
    extend: () => extend,
  } as unknown as Record<string, () => object>;

  function inherits(type: { prototype: object }, parent: { prototype: object }): void {
    defineValue(type, "super_", parent, true);
    setPrototypeOf(type.prototype, parent.prototype);
  }

  const { assign } = Object;
  function extend(to: object, from: unknown): object {
    return typeof from === "object" && from !== null ? assign(to, from) : to;
  }

  const isUnconfined = create(null) as Record<string, boolean>;
  for (const name of unconfined) isUnconfined[name] = true;
  const isEnumerable = create(null) as Record<string, boolean>;
  for (const name of enumerable) isEnumerable[name] = true;
  for (const name of names) {
    if (name.slice(0, 2) === "on") {
      defineValue(globalThis, name, null, true);
      continue;
    }
    const make = (): unknown => {
      if (isUnconfined[name] === true) spend();
      prepareGlobal(name);
      return membrane().guarded(() => membrane().inward(outerGlobal[name], "runtime"));
    };
    defineLater(name, make, isEnumerable[name] === true);
  }
  for (const name in functions) defineValue(globalThis, name, functions[name], isEnumerable[name] === true);
  for (const name of eventMethods) {
    const make = () => {
      const on = eventTarget();
      const method = on[name] as Callable;
      return (...args: unknown[]) => apply(method, on, args);
    };
    defineLater(name, make, true, getPrototypeOf(globalThis) as object);
  }
  for (const name of ["self", "global"])
    if (name in outerGlobal) defineValue(globalThis, name, globalThis, true);
  defineLater("console", ownConsole, false);
  // V8 takes it from the outer realm.
  defineProperty(Date.prototype, "toTemporalInstant", {
    value(this: Date): unknown {
      const { Temporal } = globalThis as unknown as {
        Temporal: { Instant: { fromEpochMilliseconds(ms: number): unknown } };
      };
      return Temporal.Instant.fromEpochMilliseconds(timeOf(this));
    },
    writable: true,
    configurable: true,
  });

  return {
    link(own) {
      for (const name in functions) own.link(outerGlobal[name] as object, functions[name] as object);
    },
    replacement(name) {
      if (!startsWith(name, CONSOLE_PREFIX)) return replacements[name]?.();
      return (ownConsole() as Record<string, object>)[sliceText(name, CONSOLE_PREFIX.length)];
    },
  };
}
