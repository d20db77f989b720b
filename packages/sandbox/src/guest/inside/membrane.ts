import type { createErrors } from "./errors.ts";
import type { createInward } from "./inward.ts";
import type { createLinks } from "./links.ts";
import type { Membrane, OuterRealm } from "./membrane-types.ts";
import type { createOutward } from "./outward.ts";
import type { Pending } from "./pending.ts";
import type { Primordials } from "./primordials.ts";
import type { createStandIns } from "./stand-ins.ts";
import type { createViews } from "./views.ts";

type Callable = (...args: unknown[]) => unknown;

/** Settings of {@link createMembrane}. */
export interface MembraneSettings {
  outer: OuterRealm;
  /** Prototypes and constructors of the language in this realm. */
  intrinsics: readonly object[];
  /** Whether the run has ended, after which nothing crosses. */
  isOver(): boolean;
  /** Notes that the program could change what later runs have, too. */
  spend(): void;
  /** The realm's own version of what the runtime has. */
  replacement(name: string): object | undefined;
  pending: Pending;
  /** Notes that a timer of the runtime began; gives a function that takes its end. */
  trackDelay(ms: number): () => void;
}

/** The parts of a membrane. */
export interface MembraneParts {
  createErrors: typeof createErrors;
  createInward: typeof createInward;
  createLinks: typeof createLinks;
  createOutward: typeof createOutward;
  createStandIns: typeof createStandIns;
  createViews: typeof createViews;
}

/**
 * Creates the connection of a realm with the outer one, where the runtime's own objects live. Values that cross it become
 * values of the other realm, so nothing that a program changes is there for another realm.
 */
export function createMembrane(
  primordials: Primordials,
  parts: MembraneParts,
  { outer, intrinsics, isOver, spend, replacement, pending, trackDelay }: MembraneSettings,
): Membrane {
  const { apply, construct, constructors, create, getPrototypeOf, ownKeys, ownProperty, setPrototypeOf } =
    primordials;
  const { defineValue, promiseThen } = primordials;
  const { delays, finite, is, kinds } = outer;
  const links = parts.createLinks(primordials, outer.intrinsics, intrinsics);
  const copyView = parts.createViews(primordials);
  const membrane = create(null) as Membrane;
  const convertError = parts.createErrors(
    primordials,
    links,
    (value) => membrane.inward(value),
    outer.toGuest,
  );
  const settings = { links, outer, membrane, copyView, isOver, spend, convertError, replacement };
  const standIns = parts.createStandIns(primordials, settings);
  const inward = parts.createInward(primordials, { ...settings, standIns });
  const { outward, outwardAll, outwardSelf } = parts.createOutward(primordials, settings);
  links.linkInward(outer.global, globalThis);

  membrane.inward = inward;
  membrane.outward = outward;
  membrane.link = links.link;
  membrane.replace = links.linkInward;
  membrane.ownOf = (value) => (links.isObject(value) ? (links.innerOf(value) ?? value) : value);
  membrane.unwrap = (value) => (links.isObject(value) ? (links.outerOf(value) ?? value) : value);

  membrane.guarded = (action) => {
    try {
      return action();
    } catch (error) {
      throw ownError(error);
    }
  };

  membrane.call = (target, self, args, origin = "made") => {
    try {
      if (isOver()) throw new constructors.Error("The run has ended.");
      const kind = kinds.get(target);
      if (kind === "reading") return inward(printed(apply(target, membrane.unwrap(self), readable(args))));
      if (kind === "lasting") spend();
      const name = finite.get(target);
      const given = name === undefined ? args : withNotedCallback(name, args);
      const result = apply(target, outwardSelf(self, target), outwardAll(given));
      if (is.promise(result)) {
        if (name !== undefined) noteUntilSettled(name, result as Promise<unknown>);
        const delayAt = delays.get(target);
        if (delayAt !== undefined) noteDelay(args[delayAt], result as Promise<unknown>);
      }
      return inward(result, origin);
    } catch (error) {
      throw ownError(error);
    }
  };

  membrane.construct = (target, base, args, newTarget) =>
    membrane.guarded(() => {
      const outside = construct(target, outwardAll(args));
      if (newTarget === base) return inward(outside) as object;
      const prototype = newTarget.prototype as object;
      if (is.arrayBufferView(outside) || is.anyArrayBuffer(outside) || is.nativeError(outside)) {
        return setPrototypeOf(inward(outside), prototype) as object;
      }
      const inside = create(prototype) as object;
      links.link(outside, inside);
      links.setWhole(inside);
      standIns.copyState(outside, inside, false);
      overrideMethods(outside, prototype, (base as Callable).prototype as object);
      return inside;
    });

  function noteUntilSettled(name: string, promise: Promise<unknown>): void {
    const { end, place } = pending.begin("operation", name);
    void promiseThen(promise, end, (reason) => {
      place(inward(reason));
      end();
    });
  }

  function noteDelay(ms: unknown, promise: Promise<unknown>): void {
    const end = trackDelay(typeof ms === "number" ? ms : 0);
    void promiseThen(promise, end, end);
  }

  /** The arguments, with a callback at their end that notes that it was called. */
  function withNotedCallback(name: string, args: readonly unknown[]): readonly unknown[] {
    const last = args.length - 1;
    const callback = args[last];
    if (typeof callback !== "function") return args;
    const { end } = pending.begin("operation", name);
    const list = create(null) as unknown[];
    for (let index = 0; index < last; index += 1) list[index] = args[index];
    list[last] = function (this: unknown, ...results: unknown[]): unknown {
      try {
        return apply(callback, this, results);
      } finally {
        end();
      }
    };
    list.length = args.length;
    return list;
  }

  /** Converts a thrown value to one of this realm; a RangeError if the stack is full. */
  function ownError(error: unknown): unknown {
    try {
      return inward(error);
    } catch {
      return new constructors.RangeError("Maximum call stack size exceeded");
    }
  }

  /** Methods of a program's subclass are called by the runtime, too. */
  function overrideMethods(outside: object, prototype: object, end: object): void {
    for (let from: object | null = prototype; from !== null && from !== end; from = getPrototypeOf(from)) {
      const names = ownKeys(from);
      for (let index = 0; index < names.length; index += 1) {
        const key = names[index] as string | symbol;
        const method = ownProperty(from, key)?.value as unknown;
        if (key === "constructor" || typeof method !== "function") continue;
        if (ownProperty(outside, key) === undefined) defineValue(outside, key, outward(method), false);
      }
    }
  }

  /** Replaces host paths anywhere in the text that a printing function returns. */
  function printed(result: unknown): unknown {
    return typeof result === "string" && outer.toGuest !== undefined ? outer.toGuest.text(result) : result;
  }

  function readable(args: readonly unknown[]): unknown[] {
    const list = create(null) as unknown[];
    for (let index = 0; index < args.length; index += 1) {
      const value = args[index];
      list[index] = links.isObject(value) && !links.isWhole(value) ? membrane.unwrap(value) : value;
    }
    list.length = args.length;
    return list;
  }

  return membrane;
}
