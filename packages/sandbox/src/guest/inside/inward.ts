import type { ConvertError } from "./errors.ts";
import type { Origin } from "./membrane-types.ts";
import type { OutwardSettings } from "./outward.ts";
import type { Primordials } from "./primordials.ts";

type Callable = (...args: unknown[]) => unknown;
type Copies = InstanceType<Primordials["SafeWeakMap"]>;

/** Whose members a stand-in gets: of a class or function, of its prototype, or of an object of an {@link Origin}. */
type Holder = "class" | "prototype" | Origin;

interface LiveMember {
  read(this: object): unknown;
  write(this: object, next: unknown): void;
}

/** The way of values from the outer realm into this one. */
export interface Inward {
  /**
   * A value of the outer realm as one of this realm.
   *
   * @param origin - `made` unless it is known to be there for all runs.
   */
  inward(value: unknown, origin?: Origin): unknown;
  /** Gives a stand-in the own members of the instance that it stands for. */
  copyState(outside: object, inside: object, isVisible: boolean): void;
}

/** What the way in needs of the membrane. */
export interface InwardSettings extends OutwardSettings {
  convertError: ConvertError;
  replacement(name: string): object | undefined;
}

/** Creates the way in. Data is copied, bytes are viewed anew, functions and instances of classes get a stand-in. */
export function createInward(
  primordials: Primordials,
  { links, outer, membrane, copyView, isOver, spend, convertError, replacement }: InwardSettings,
): Inward {
  const { PromiseConstructor, SafeWeakMap, addEntry, addMember, apply, constructors, create } = primordials;
  const { defineAccessor, defineProperty, defineValue, flagsOf, forEachEntry, forEachMember } = primordials;
  const { getPrototypeOf, isArray, ownKeys, ownProperty, promiseThen } = primordials;
  const { setPrototypeOf, sourceOf, symbols, timeOf, typedArrayBuffer, typedArrayName } = primordials;
  const { dataViewBuffer, viewConstructors } = primordials;
  const { innerOf, outerOf, link, isInner, isObject } = links;
  const { is, live, replaced, shared, singletons } = outer;
  const outerRoot = outer.intrinsics[0] as object;
  const innerRoot = innerOf(outerRoot) as object;
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

  function inward(value: unknown, origin: Origin = "made"): unknown {
    return isObject(value) ? inwardObject(value, undefined, origin) : value;
  }

  function inwardObject(value: object, copies: Copies | undefined, origin: Origin): object {
    const known = innerOf(value) ?? (copies?.get(value) as object | undefined);
    if (known !== undefined) return known;
    if (isInner(value)) return value;
    const name = origin === "made" ? undefined : replaced.get(value);
    if (name !== undefined) return replace(value, name);
    if (typeof value === "function") return standInFunction(value, origin);
    const prototype = getPrototypeOf(value);
    if (prototype !== null && classes.get(prototype) === true)
      return standInInstance(value, prototype, origin);
    if (is.promise(value)) return inwardPromise(value as Promise<unknown>);
    if (is.arrayBufferView(value)) return inwardView(value);
    if (is.anyArrayBuffer(value)) return adoptBuffer(value);
    if (is.nativeError(value)) return convertError(value as Error, inwardPrototype(getPrototypeOf(value)));
    if (isArray(value)) return copyList(value, copies);
    if (live.has(value)) return standInLive(value);
    if (prototype === null || prototype === outerRoot) return inwardPlain(value, prototype, origin, copies);
    return copyCollection(value, copies) ?? standInInstance(value, prototype, origin);
  }

  function replace(value: object, name: string): object {
    const own = replacement(name) as object;
    links.linkInward(value, own);
    return own;
  }

  function inwardPromise(promise: Promise<unknown>): object {
    const inside = new PromiseConstructor((resolve, reject) => {
      void promiseThen(
        promise,
        (value) => isOver() || resolve(inward(value)),
        (reason) => isOver() || reject(inward(reason)),
      );
    });
    link(promise, inside);
    return inside;
  }

  function inwardView(view: object): object {
    adoptBuffer(typedArrayName(view) === undefined ? dataViewBuffer(view) : typedArrayBuffer(view));
    const inside = copyView(view, viewConstructors);
    const prototype = inwardPrototype(getPrototypeOf(view));
    if (prototype !== getPrototypeOf(inside)) setPrototypeOf(inside, prototype);
    link(view, inside);
    return inside;
  }

  /** Bytes lead nowhere else: they become this realm's by their prototype alone. */
  function adoptBuffer(buffer: object): object {
    if (!isInner(buffer)) setPrototypeOf(buffer, inwardPrototype(getPrototypeOf(buffer)));
    return buffer;
  }

  function copyList(list: readonly unknown[], copies: Copies = new SafeWeakMap()): object {
    const copy: unknown[] = [];
    copies.set(list, copy);
    for (let index = 0; index < list.length; index += 1) {
      const item = list[index];
      if (item === undefined && ownProperty(list, `${index}`) === undefined) continue;
      defineValue(copy, `${index}`, isObject(item) ? inwardObject(item, copies, "made") : item, true);
    }
    copy.length = list.length;
    return copy;
  }

  function copyCollection(value: object, copies: Copies = new SafeWeakMap()): object | undefined {
    const convert = (item: unknown) => (isObject(item) ? inwardObject(item, copies, "made") : item);
    if (is.map(value)) {
      const copy = new constructors.Map();
      copies.set(value, copy);
      forEachEntry(value, (item, key) => addEntry(copy, convert(key), convert(item)));
      return copy;
    }
    if (is.set(value)) {
      const copy = new constructors.Set();
      copies.set(value, copy);
      forEachMember(value, (item) => addMember(copy, convert(item)));
      return copy;
    }
    if (is.date(value)) return new constructors.Date(timeOf(value));
    if (is.regExp(value)) return new constructors.RegExp(sourceOf(value), flagsOf(value));
    return undefined;
  }

  /** An object of data is copied; one with functions is a namespace, whose members are converted when they are used. */
  function inwardPlain(
    value: object,
    prototype: object | null,
    origin: Origin,
    copies: Copies = new SafeWeakMap(),
  ): object {
    const copy = create(prototype === null ? null : innerRoot) as object;
    const names = ownKeys(value);
    if (isNamespace(value, names)) {
      link(value, copy);
      if (origin === "runtime") shared.fix(value);
      if (origin === "state") shared.add(value, false);
      copyMembers(value, copy, origin);
      return copy;
    }
    copies.set(value, copy);
    for (let index = 0; index < names.length; index += 1) {
      const key = names[index] as string | symbol;
      if (typeof key === "symbol") continue;
      const member = (value as Record<string, unknown>)[key];
      const copied = isObject(member) ? inwardObject(member, copies, origin) : member;
      defineValue(copy, key, copied, ownProperty(value, key)?.enumerable === true);
    }
    return copy;
  }

  function isNamespace(value: object, names: readonly (string | symbol)[]): boolean {
    for (let index = 0; index < names.length; index += 1) {
      const descriptor = ownProperty(value, names[index] as string | symbol);
      if (typeof descriptor?.value === "function" || descriptor?.get !== undefined) return true;
    }
    return false;
  }

  /** Settings of the runtime: what a program sets there is set, and costs the guest after the run. */
  function standInLive(value: object): object {
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
      return membrane.guarded(() => inward((membrane.unwrap(this) as Record<string, unknown>)[key]));
    };
    member.write = function (next) {
      membrane.guarded(() => {
        (membrane.unwrap(this) as Record<string, unknown>)[key] = membrane.outward(next);
      });
    };
    liveMembers[key] = member;
    return member;
  }

  /** The prototype in this realm for one of the outer realm. */
  function inwardPrototype(prototype: object | null): object | null {
    if (prototype === null) return null;
    const known = innerOf(prototype);
    if (known !== undefined) return known;
    const inside = create(inwardPrototype(getPrototypeOf(prototype))) as object;
    link(prototype, inside);
    shared.add(prototype, true);
    copyMembers(prototype, inside, "prototype");
    return inside;
  }

  /** Gives a stand-in the members of what it stands for, converted when they are first used. */
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
    else if (!isObject(value)) defineValue(to, key, value, enumerable);
    else {
      const read = (): unknown => {
        const inside = membrane.guarded(() => inward(value, originOf(holder)));
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
      // What is set on a class is set for all of its instances.
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

  function standInFunction(target: object, origin: Origin): object {
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
    if (parent !== null) setPrototypeOf(inside, inward(parent, "runtime") as object);
    const inner = inwardPrototype(prototype) as object;
    defineProperty(inside, "prototype", { __proto__: null, value: inner, writable: false } as never);
    defineValue(inner, "constructor", inside, false);
    defineValue(inside, PRINTERS[0] as symbol, print, false);
    copyMembers(target, inside, "class");
    return inside;
  }

  function standInInstance(value: object, prototype: object, origin: Origin): object {
    if (origin !== "made" || singletons.has(prototype)) shared.add(value, false);
    classes.set(prototype, true);
    const inside = create(inwardPrototype(prototype)) as object;
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

  return { inward, copyState };
}
