import type { Origin } from "./membrane-types.ts";
import type { OutwardSettings } from "./outward.ts";
import type { Primordials } from "./primordials.ts";

type Callable = (...args: unknown[]) => unknown;

/** Source of a stand-in's members: a class or function, its prototype, or an object of an {@link Origin}. */
type Holder = "class" | "prototype" | Origin;

interface LiveMember {
  read(this: object): unknown;
  write(this: object, next: unknown): void;
}

/** Objects of this realm that stand for objects of the outer one, with members that are converted when they are used. */
export interface StandIns {
  forFunction(target: object, origin: Origin): object;
  forInstance(value: object, prototype: object, origin: Origin): object;
  /** For settings of the runtime: what a program sets there is set, and costs the guest after the run. */
  forLive(value: object): object;
  /** The prototype in this realm for one of the outer realm. */
  prototypeOf(prototype: object | null): object | null;
  /** Whether instances with this prototype get a stand-in. */
  isClass(prototype: object): boolean;
  /** Gives a stand-in the members of what it stands for, converted when they are first used. */
  copyMembers(from: object, to: object, holder: Holder): void;
  /** Gives a stand-in the own members of the instance that it stands for. */
  copyState(outside: object, inside: object, isVisible: boolean): void;
}

/** Creates the stand-ins. */
export function createStandIns(
  primordials: Primordials,
  { links, outer, membrane, spend }: OutwardSettings,
): StandIns {
  const { SafeWeakMap, apply, constructors, create, defineAccessor, defineProperty, defineValue } =
    primordials;
  const { getPrototypeOf, ownKeys, ownProperty, setPrototypeOf, symbols } = primordials;
  const { innerOf, outerOf, link, isObject } = links;
  const { shared, singletons } = outer;
  const innerRoot = innerOf(outer.intrinsics[0] as object) as object;
  const SHARED_SYMBOLS: readonly (string | symbol)[] = [
    symbols.iterator,
    symbols.asyncIterator,
    symbols.hasInstance,
    symbols.toStringTag,
    symbols.toPrimitive,
    symbols.dispose,
    symbols.asyncDispose,
  ];
  const FUNCTION_MEMBERS: readonly (string | symbol)[] = [
    "length",
    "name",
    "prototype",
    "arguments",
    "caller",
  ];
  /** Methods by which the runtime prints an object. Only the runtime calls them, with values of its own. */
  const PRINTERS = symbols.printers;

  const liveMembers = create(null) as Record<string, LiveMember>;
  /** Prototypes whose instances get a stand-in. */
  const classes = new SafeWeakMap<boolean>();

  function includes(list: readonly unknown[], item: unknown): boolean {
    for (let index = 0; index < list.length; index += 1) if (list[index] === item) return true;
    return false;
  }

  function forLive(value: object): object {
    const inside = create(innerRoot) as object;
    link(value, inside);
    const names = ownKeys(value);
    for (let index = 0; index < names.length; index += 1) {
      const key = names[index] as string;
      const { read, write } = liveMember(key);
      const writeLasting = function (this: object, next: unknown): void {
        spend();
        apply(write, this, [next]);
      };
      defineAccessor(inside, key, read, writeLasting, true);
    }
    return inside;
  }

  /** Reads and writes a member of the object that a stand-in stands for. */
  function liveMember(key: string): LiveMember {
    const known = liveMembers[key];
    if (known !== undefined) return known;
    const member = create(null) as LiveMember;
    member.read = function () {
      return membrane.guarded(() => membrane.inward((membrane.unwrap(this) as Record<string, unknown>)[key]));
    };
    member.write = function (next) {
      membrane.guarded(() => {
        (membrane.unwrap(this) as Record<string, unknown>)[key] = membrane.outward(next);
      });
    };
    liveMembers[key] = member;
    return member;
  }

  function prototypeOf(prototype: object | null): object | null {
    if (prototype === null) return null;
    const known = innerOf(prototype);
    if (known !== undefined) return known;
    const inside = create(prototypeOf(getPrototypeOf(prototype))) as object;
    link(prototype, inside);
    shared.add(prototype, true);
    copyMembers(prototype, inside, "prototype");
    return inside;
  }

  function copyMembers(from: object, to: object, holder: Holder): void {
    const names = ownKeys(from);
    const isFunction = typeof from === "function";
    for (let index = 0; index < names.length; index += 1) {
      const key = names[index] as string | symbol;
      if (isFunction && includes(FUNCTION_MEMBERS, key)) continue;
      const descriptor = ownProperty(from, key);
      if (descriptor === undefined) continue;
      if (typeof key === "string" || includes(SHARED_SYMBOLS, key)) copyMember(to, key, descriptor, holder);
      else if (includes(PRINTERS, key) && typeof descriptor.value === "function") {
        defineValue(to, key, printer(descriptor.value as Callable), false);
      }
    }
  }

  function copyMember(
    to: object,
    key: string | symbol,
    descriptor: PropertyDescriptor,
    holder: Holder,
  ): void {
    const { value, enumerable = false } = descriptor as { value?: unknown; enumerable?: boolean };
    if (descriptor.get !== undefined || descriptor.set !== undefined)
      copyAccessor(to, key, descriptor, holder);
    else if (!isObject(value)) defineValue(to, key, membrane.inward(value), enumerable);
    else {
      const read = (): unknown => {
        const inside = membrane.guarded(() => membrane.inward(value, originOf(holder)));
        defineValue(to, key, inside, enumerable);
        return inside;
      };
      const write = function (this: object, next: unknown): void {
        assign(this, key, next, enumerable);
      };
      defineAccessor(to, key, read, write, enumerable);
    }
  }

  function copyAccessor(
    to: object,
    key: string | symbol,
    descriptor: PropertyDescriptor,
    holder: Holder,
  ): void {
    const { get: read, set: write, enumerable = false } = descriptor;
    const isOwn = holder === "runtime" || holder === "state";
    const get = function (this: object): unknown {
      const origin = holder !== "prototype" ? originOf(holder) : isShared(this) ? "state" : "made";
      return membrane.call(read as Callable, this, [], origin);
    };
    const set = function (this: object, next: unknown): void {
      // A member set on a class affects all of its instances, so the guest is retired after the run.
      if (holder === "class") spend();
      else if (isOwn || isShared(this)) return assign(this, key, next, enumerable);
      membrane.call(write as Callable, this, [next]);
    };
    defineAccessor(to, key, read && get, write && set, enumerable);
  }

  function originOf(holder: Holder): Origin {
    return holder === "class" || holder === "prototype" ? "runtime" : holder;
  }

  /** Whether an object of this realm stands for one that all runs have. */
  function isShared(inside: unknown): boolean {
    const outside = isObject(inside) ? outerOf(inside) : undefined;
    return outside !== undefined && shared.has(outside);
  }

  /** Sets a property for this realm alone. */
  function assign(target: object, key: string | symbol, value: unknown, enumerable: boolean): void {
    if (defineValue(target, key, value, enumerable)) return;
    throw new constructors.TypeError(`Cannot assign to read only property '${key as string}' of object`);
  }

  function printer(print: Callable): object {
    return {
      print(this: unknown, ...args: unknown[]) {
        return apply(print, membrane.unwrap(this), args);
      },
    }.print;
  }

  /** Prints a stand-in within another object as the runtime prints what it stands for. */
  const { print } = {
    print(this: unknown, inspect: Callable, options: object): unknown {
      const outside = membrane.unwrap(this);
      return outside === this
        ? inspect(this, { ...options, customInspect: false })
        : inspect(outside, options);
    },
  };

  function forFunction(target: object, origin: Origin): object {
    if (origin !== "made") shared.fix(target);
    const prototype = ownProperty(target, "prototype")?.value as unknown;
    const inside = isObject(prototype) ? standInClass(target, prototype) : standInMethod(target, origin);
    const { length, name } = target as Callable;
    defineProperty(inside, "length", { __proto__: null, value: length } as never);
    defineProperty(inside, "name", { __proto__: null, value: name } as never);
    return inside;
  }

  function standInMethod(target: object, origin: Origin): object {
    const { method } = {
      method(this: unknown, ...args: unknown[]) {
        return membrane.call(target, this, args);
      },
    };
    link(target, method);
    copyMembers(target, method, origin === "made" ? "made" : "class");
    return method;
  }

  function standInClass(target: object, prototype: object): object {
    const inside = function (this: unknown, ...args: unknown[]): unknown {
      if (new.target === undefined) return membrane.call(target, this, args);
      return membrane.construct(target, inside, args, new.target);
    };
    link(target, inside);
    const parent = getPrototypeOf(target);
    if (parent !== null) setPrototypeOf(inside, membrane.inward(parent, "runtime") as object);
    const inner = prototypeOf(prototype) as object;
    defineProperty(inside, "prototype", { __proto__: null, value: inner, writable: false } as never);
    defineValue(inner, "constructor", inside, false);
    defineValue(inside, PRINTERS[0] as symbol, print, false);
    copyMembers(target, inside, "class");
    return inside;
  }

  function forInstance(value: object, prototype: object, origin: Origin): object {
    if (origin !== "made" || singletons.has(prototype)) shared.add(value, false);
    classes.set(prototype, true);
    const inside = create(prototypeOf(prototype)) as object;
    link(value, inside);
    copyState(value, inside, true);
    defineValue(inside, PRINTERS[0] as symbol, print, false);
    return inside;
  }

  /** An instance's own members: as they are now, or for an emitter of events, which lives on, as they are when read. */
  function copyState(outside: object, inside: object, isVisible: boolean): void {
    const holder = shared.has(outside) ? "state" : "made";
    const isLive = holder === "made" && typeof (outside as { emit?: unknown }).emit === "function";
    const names = ownKeys(outside);
    for (let index = 0; index < names.length; index += 1) {
      const key = names[index] as string | symbol;
      if (typeof key === "symbol" && !includes(SHARED_SYMBOLS, key)) continue;
      const descriptor = ownProperty(outside, key);
      if (descriptor === undefined) continue;
      const isEnumerable = isVisible && descriptor.enumerable === true;
      if (isLive && typeof key === "string" && descriptor.get === undefined) {
        const { read, write } = liveMember(key);
        defineAccessor(inside, key, read, write, isEnumerable);
        continue;
      }
      descriptor.enumerable = isEnumerable;
      copyMember(inside, key, descriptor, holder);
    }
  }

  return {
    forFunction,
    forInstance,
    forLive,
    prototypeOf,
    isClass: (prototype) => classes.get(prototype) === true,
    copyMembers,
    copyState,
  };
}
