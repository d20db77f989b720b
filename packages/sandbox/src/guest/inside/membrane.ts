import type { Primordials } from "./primordials.ts";

type Callable = (...args: unknown[]) => unknown;

/** What the guest's own realm gives to the membrane. No program ever gets hold of any of it. */
export interface OuterRealm {
  /** Its global object. */
  readonly global: object;
  /** Its counterparts of {@link MembraneSettings.intrinsics}, in the same order. */
  readonly intrinsics: readonly object[];
  /** Tests of what an object is, for objects of any realm. */
  readonly is: Readonly<
    Record<
      "anyArrayBuffer" | "arrayBufferView" | "date" | "map" | "nativeError" | "promise" | "regExp" | "set",
      (value: unknown) => boolean
    >
  >;
  /** Makes a function of the outer realm. */
  readonly makeFunction: (call: (self: unknown, args: readonly unknown[]) => unknown) => object;
  /** Functions that only read their arguments, of whatever realm, and so get them as they are. */
  readonly readers: { has(value: unknown): boolean };
  /** Objects that all runs have: what a program sets there is set for itself only. */
  readonly shared: { has(value: unknown): boolean };
}

/** What connects one realm with the outer one. */
export interface Membrane {
  /** A value of the outer realm as one of this realm. */
  inward(value: unknown): unknown;
  /** A value of this realm as one of the outer realm. */
  outward(value: unknown): unknown;
  /** The outer object that an object of this realm stands for, else the value itself. */
  unwrap(value: unknown): unknown;
  /** Calls a function of the outer realm with values of this one. */
  call(target: object, self: unknown, args: readonly unknown[]): unknown;
}

/** Settings of {@link createMembrane}. */
export interface MembraneSettings {
  outer: OuterRealm;
  /** Prototypes and constructors of the language in this realm. */
  intrinsics: readonly object[];
  /** Whether the run has ended, after which nothing crosses. */
  isOver(): boolean;
}

/**
 * Creates the connection of a realm with the outer one, where the runtime's own objects live. Values that cross it become
 * values of the other realm: data is copied, bytes change their prototype, functions and instances of classes get a
 * stand-in. So nothing that a program changes is there for another realm.
 */
export function createMembrane(
  primordials: Primordials,
  { outer, intrinsics, isOver }: MembraneSettings,
): Membrane {
  const {
    SafeWeakMap,
    PromiseConstructor,
    ProxyConstructor,
    addEntry,
    addMember,
    apply,
    construct,
    create,
    defineProperty,
    forEachEntry,
    forEachMember,
    get,
    getOwnPropertyDescriptor,
    getPrototypeOf,
    has,
    isArray,
    isView,
    ownKeys,
    promiseThen,
    set,
    setPrototypeOf,
    timeOf,
  } = primordials;
  type Copies = InstanceType<typeof SafeWeakMap<object>>;

  const innerOf = new SafeWeakMap<object>();
  const outerOf = new SafeWeakMap<object>();
  /** `Object.prototype` of both realms, with which the prototypes of nearly every object end. */
  const innerRoot = intrinsics[0] as object;
  const outerRoot = outer.intrinsics[0] as object;
  const outerGlobal = outer.global as Record<string, new (...args: unknown[]) => object>;
  const constructors = { Date, Error, Map, RegExp, Set };
  const SHARED_SYMBOLS: readonly (string | symbol)[] = [
    Symbol.iterator,
    Symbol.asyncIterator,
    Symbol.toStringTag,
    Symbol.toPrimitive,
    Symbol.dispose,
    Symbol.asyncDispose,
  ];
  /** Methods by which the runtime prints an object. Only the runtime calls them, with values of its own. */
  const PRINTERS: readonly (string | symbol)[] = [
    Symbol.for("Deno.privateCustomInspect"),
    Symbol.for("Deno.customInspect"),
    Symbol.for("nodejs.util.inspect.custom"),
  ];

  for (let index = 0; index < intrinsics.length; index += 1) {
    link(outer.intrinsics[index] as object, intrinsics[index] as object);
  }
  link(outer.global, globalThis);

  function link(outside: object, inside: object): void {
    outerOf.set(inside, outside);
    innerOf.set(outside, inside);
  }

  function isObject(value: unknown): value is object {
    return (typeof value === "object" && value !== null) || typeof value === "function";
  }

  function includes(list: readonly unknown[], item: unknown): boolean {
    for (let index = 0; index < list.length; index += 1) if (list[index] === item) return true;
    return false;
  }

  /** The last prototype, by which the realm of an object is known. `undefined` for one without prototypes. */
  function rootOf(value: object): object | undefined {
    let root: object | undefined;
    for (let next = getPrototypeOf(value); next !== null; next = getPrototypeOf(next)) root = next;
    return root;
  }

  function define(target: object, key: string | symbol, value: unknown, enumerable: boolean): void {
    defineProperty(target, key, {
      __proto__: null,
      value,
      writable: true,
      enumerable,
      configurable: true,
    } as never);
  }

  function inward(value: unknown): unknown {
    return isObject(value) ? inwardObject(value, undefined) : value;
  }

  function inwardObject(value: object, copies: Copies | undefined): object {
    const known = innerOf.get(value) ?? copies?.get(value);
    if (known !== undefined) return known;
    const root = rootOf(value);
    if (root === innerRoot || value === innerRoot) return value;
    if (typeof value === "function") return standInFunction(value);
    const { is } = outer;
    if (is.promise(value)) return inwardPromise(value as Promise<unknown>);
    if (is.arrayBufferView(value) || is.anyArrayBuffer(value)) return adoptBytes(value);
    if (is.nativeError(value)) return inwardError(value as Error);
    if (isArray(value)) return copyList(value, copies);
    const prototype = getPrototypeOf(value);
    if (prototype === null || prototype === outerRoot) return inwardPlain(value, prototype === null, copies);
    return copyCollection(value, copies) ?? standInInstance(value, prototype);
  }

  function inwardPromise(promise: Promise<unknown>): object {
    const inside = new PromiseConstructor((resolve, reject) => {
      void promiseThen(
        promise,
        (value) => resolve(inward(value)),
        (reason) => reject(inward(reason)),
      );
    });
    link(promise, inside);
    return inside;
  }

  /** Bytes have no connections: they become this realm's by their prototype alone. */
  function adoptBytes(value: object): object {
    if (isView(value)) {
      const { buffer } = value as Uint8Array;
      if (rootOf(buffer) !== innerRoot) setPrototypeOf(buffer, inwardPrototype(getPrototypeOf(buffer)));
    }
    setPrototypeOf(value, inwardPrototype(getPrototypeOf(value)));
    return value;
  }

  function inwardError(error: Error): object {
    const inside = new constructors.Error(`${error.message}`);
    setPrototypeOf(inside, inwardPrototype(getPrototypeOf(error)));
    link(error, inside);
    const names = ownKeys(error);
    for (let index = 0; index < names.length; index += 1) {
      const key = names[index] as string | symbol;
      if (typeof key !== "string" || key === "message") continue;
      define(inside, key, inward((error as unknown as Record<string, unknown>)[key]), key !== "stack");
    }
    return inside;
  }

  function copyList(list: readonly unknown[], copies = new SafeWeakMap<object>()): object {
    const copy: unknown[] = [];
    copies.set(list, copy);
    for (let index = 0; index < list.length; index += 1) {
      const item = list[index];
      define(copy, `${index}`, isObject(item) ? inwardObject(item, copies) : item, true);
    }
    return copy;
  }

  function copyCollection(value: object, copies = new SafeWeakMap<object>()): object | undefined {
    const convert = (item: unknown) => (isObject(item) ? inwardObject(item, copies) : item);
    const { is } = outer;
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
    if (is.regExp(value)) return new constructors.RegExp((value as RegExp).source, (value as RegExp).flags);
    return undefined;
  }

  /** An object of data is copied; one with functions is a namespace, whose members are converted when they are used. */
  function inwardPlain(value: object, isBare: boolean, copies = new SafeWeakMap<object>()): object {
    const copy = create(isBare ? null : innerRoot) as object;
    const names = ownKeys(value);
    let isNamespace = false;
    for (let index = 0; index < names.length && !isNamespace; index += 1) {
      const descriptor = getOwnPropertyDescriptor(value, names[index] as string | symbol);
      isNamespace = typeof descriptor?.value === "function" || descriptor?.get !== undefined;
    }
    if (isNamespace) {
      link(value, copy);
      copyMembers(value, copy);
      return copy;
    }
    copies.set(value, copy);
    for (let index = 0; index < names.length; index += 1) {
      const key = names[index] as string | symbol;
      if (typeof key === "symbol") continue;
      const member = (value as Record<string, unknown>)[key];
      define(copy, key, isObject(member) ? inwardObject(member, copies) : member, true);
    }
    return copy;
  }

  /** The prototype in this realm for one of the outer realm. */
  function inwardPrototype(prototype: object | null): object | null {
    if (prototype === null) return null;
    const known = innerOf.get(prototype);
    if (known !== undefined) return known;
    const inside = create(inwardPrototype(getPrototypeOf(prototype))) as object;
    link(prototype, inside);
    copyMembers(prototype, inside);
    return inside;
  }

  /** Gives a stand-in the members of what it stands for, converted when they are first used. */
  function copyMembers(from: object, to: object): void {
    const names = ownKeys(from);
    for (let index = 0; index < names.length; index += 1) {
      const key = names[index] as string | symbol;
      if (typeof from === "function" && includes(["length", "name", "prototype", "arguments", "caller"], key))
        continue;
      const descriptor = getOwnPropertyDescriptor(from, key);
      if (descriptor === undefined) continue;
      if (typeof key === "symbol" && !includes(SHARED_SYMBOLS, key)) {
        if (includes(PRINTERS, key) && typeof descriptor.value === "function")
          define(to, key, printer(descriptor.value), false);
        continue;
      }
      copyMember(to, key, descriptor, outer.shared.has(from));
    }
  }

  function copyMember(
    to: object,
    key: string | symbol,
    descriptor: PropertyDescriptor,
    isShared: boolean,
  ): void {
    const { value, get: read, enumerable = false } = descriptor;
    const { set: write } = descriptor;
    if (read !== undefined || write !== undefined) {
      defineProperty(to, key, {
        __proto__: null,
        get(this: unknown) {
          return read === undefined ? undefined : call(read, this, []);
        },
        set(this: object, next: unknown) {
          if (isShared) define(this, key, next, enumerable);
          else if (write !== undefined) call(write, this, [next]);
        },
        enumerable,
        configurable: true,
      } as never);
      return;
    }
    if (!isObject(value)) return define(to, key, value, enumerable);
    defineProperty(to, key, {
      __proto__: null,
      get() {
        const inside = inward(value);
        define(to, key, inside, enumerable);
        return inside;
      },
      set(this: object, next: unknown) {
        define(this, key, next, enumerable);
      },
      enumerable,
      configurable: true,
    } as never);
  }

  function printer(print: object): object {
    return {
      print(this: unknown, ...args: unknown[]) {
        return apply(print as Callable, unwrap(this), args);
      },
    }.print;
  }

  function standInFunction(target: object): object {
    const prototype = getOwnPropertyDescriptor(target, "prototype")?.value as unknown;
    const inside = isObject(prototype) ? standInClass(target, prototype) : standInMethod(target);
    const { length, name } = target as Callable;
    define(inside, "length", length, false);
    define(inside, "name", name, false);
    return inside;
  }

  function standInMethod(target: object): object {
    const { method } = {
      method(this: unknown, ...args: unknown[]) {
        return call(target, this, args);
      },
    };
    link(target, method);
    copyMembers(target, method);
    return method;
  }

  function standInClass(target: object, prototype: object): object {
    const inside = function (this: unknown, ...args: unknown[]): unknown {
      if (new.target === undefined) return call(target, this, args);
      return constructInstance(target, inside, args, new.target as unknown as Callable);
    };
    link(target, inside);
    const parent = getPrototypeOf(target);
    if (parent !== null) setPrototypeOf(inside, inward(parent) as object);
    const inner = inwardPrototype(prototype) as object;
    defineProperty(inside, "prototype", { __proto__: null, value: inner, writable: false } as never);
    define(inner, "constructor", inside, false);
    copyMembers(target, inside);
    return inside;
  }

  function constructInstance(
    target: object,
    base: object,
    args: readonly unknown[],
    newTarget: Callable,
  ): object {
    const outside = guarded(() => construct(target as Callable, outwardAll(args))) as object;
    if (newTarget === base) return inward(outside) as object;
    const prototype = newTarget.prototype as object;
    if (outer.is.arrayBufferView(outside) || outer.is.anyArrayBuffer(outside)) {
      return setPrototypeOf(inward(outside) as object, prototype) as object;
    }
    const inside = outer.is.nativeError(outside)
      ? (inward(outside) as object)
      : (create(prototype) as object);
    setPrototypeOf(inside, prototype);
    link(outside, inside);
    copyState(outside, inside);
    overrideMethods(outside, prototype, (base as Callable).prototype as object);
    return inside;
  }

  /** Methods of a program's subclass are called by the runtime, too. */
  function overrideMethods(outside: object, prototype: object, end: object): void {
    for (let from: object | null = prototype; from !== null && from !== end; from = getPrototypeOf(from)) {
      const names = ownKeys(from);
      for (let index = 0; index < names.length; index += 1) {
        const key = names[index] as string | symbol;
        const method = getOwnPropertyDescriptor(from, key)?.value as unknown;
        if (key === "constructor" || typeof method !== "function") continue;
        if (getOwnPropertyDescriptor(outside, key) !== undefined) continue;
        define(outside, key, outward(method), false);
      }
    }
  }

  function standInInstance(value: object, prototype: object): object {
    const inside = create(inwardPrototype(prototype)) as object;
    link(value, inside);
    copyState(value, inside);
    return inside;
  }

  /** An instance's own members: as they are now, or for an emitter of events, which lives on, as they are when read. */
  function copyState(outside: object, inside: object): void {
    const isShared = outer.shared.has(outside);
    const isLive = !isShared && typeof (outside as { emit?: unknown }).emit === "function";
    const names = ownKeys(outside);
    for (let index = 0; index < names.length; index += 1) {
      const key = names[index] as string | symbol;
      if (typeof key === "symbol") continue;
      const descriptor = getOwnPropertyDescriptor(outside, key);
      if (descriptor === undefined) continue;
      const { value, enumerable = false } = descriptor;
      if (!isLive || isObject(value) || descriptor.get !== undefined) {
        copyMember(inside, key, descriptor, isShared);
        continue;
      }
      defineProperty(inside, key, {
        __proto__: null,
        get: () => inward((outside as Record<string, unknown>)[key]),
        set: (next: unknown) => {
          (outside as Record<string, unknown>)[key] = outward(next);
        },
        enumerable,
        configurable: true,
      } as never);
    }
  }

  function outward(value: unknown): unknown {
    return isObject(value) ? outwardObject(value, undefined) : value;
  }

  function unwrap(value: unknown): unknown {
    return isObject(value) ? (outerOf.get(value) ?? value) : value;
  }

  function outwardObject(value: object, copies: Copies | undefined): object {
    const known = outerOf.get(value) ?? copies?.get(value);
    if (known !== undefined) return known;
    if (rootOf(value) === outerRoot || value === outerRoot) return value;
    if (typeof value === "function") return outwardFunction(value as Callable);
    const { is } = outer;
    if (is.promise(value)) return outwardPromise(value as Promise<unknown>);
    if (is.arrayBufferView(value) || is.anyArrayBuffer(value)) return value;
    if (is.nativeError(value)) return outwardError(value as Error);
    if (isArray(value)) return outwardMembers(value, construct(outerGlobal["Array"] as never, []), copies);
    const prototype = getPrototypeOf(value);
    if (prototype === null || prototype === innerRoot) {
      return outwardMembers(value, construct(outerGlobal["Object"] as never, []), copies);
    }
    return outwardCollection(value) ?? outwardInstance(value);
  }

  function outwardAll(args: readonly unknown[]): unknown[] {
    // Without prototypes, so that no setter of the program sees what is put in.
    const list = create(null) as unknown[];
    for (let index = 0; index < args.length; index += 1) list[index] = outward(args[index]);
    list.length = args.length;
    return list;
  }

  function outwardFunction(method: Callable): object {
    const outside = outer.makeFunction((self, args) => {
      const list = create(null) as unknown[];
      for (let index = 0; index < args.length; index += 1) list[index] = inward(args[index]);
      list.length = args.length;
      try {
        return outward(apply(method, inward(self), list));
      } catch (error) {
        throw outward(error);
      }
    });
    link(outside, method);
    return outside;
  }

  function outwardPromise(promise: Promise<unknown>): object {
    const start = (resolve: Callable, reject: Callable): void => {
      void promiseThen(
        promise,
        (value) => resolve(outward(value)),
        (reason) => reject(outward(reason)),
      );
    };
    const outside = construct(outerGlobal["Promise"] as never, [
      outer.makeFunction((_, args) => start(args[0] as Callable, args[1] as Callable)),
    ]) as object;
    link(outside, promise);
    return outside;
  }

  function outwardError(error: Error): object {
    const kind = outerOf.get((getPrototypeOf(error) ?? innerRoot) as object);
    const outside = construct(outerGlobal["Error"] as never, [textOf(error, "message")]) as object;
    if (kind !== undefined) setPrototypeOf(outside, kind);
    link(outside, error);
    for (const key of ["name", "stack", "code"]) {
      if (getOwnPropertyDescriptor(error, key) !== undefined) define(outside, key, textOf(error, key), false);
    }
    return outside;
  }

  function textOf(object: object, key: string): string {
    try {
      return `${(object as Record<string, unknown>)[key] as string}`;
    } catch {
      return "";
    }
  }

  /** Copies data. What comes back later is the original. */
  function outwardMembers(value: object, copy: object, copies = new SafeWeakMap<object>()): object {
    copies.set(value, copy);
    innerOf.set(copy, value);
    const names = ownKeys(value);
    for (let index = 0; index < names.length; index += 1) {
      const key = names[index] as string | symbol;
      if (isArray(value) && key === "length") continue;
      const member = get(value, key) as unknown;
      define(copy, key, isObject(member) ? outwardObject(member, copies) : member, true);
    }
    return copy;
  }

  function outwardCollection(value: object): object | undefined {
    const { is } = outer;
    const make = (name: string, args: unknown[]) => construct(outerGlobal[name] as never, args) as object;
    let copy: object | undefined;
    if (is.map(value)) {
      copy = make("Map", []);
      forEachEntry(value, (item, key) => addEntry(copy, outward(key), outward(item)));
    } else if (is.set(value)) {
      copy = make("Set", []);
      forEachMember(value, (item) => addMember(copy, outward(item)));
    } else if (is.date(value)) copy = make("Date", [timeOf(value)]);
    else if (is.regExp(value)) copy = make("RegExp", [(value as RegExp).source, (value as RegExp).flags]);
    if (copy !== undefined) innerOf.set(copy, value);
    return copy;
  }

  /** An instance of a program's own class: the outer realm sees it as it is at every moment. */
  function outwardInstance(value: object): object {
    const trap = (answer: (args: readonly unknown[]) => unknown) =>
      outer.makeFunction((_, args) => answer(args));
    const handler = construct(outerGlobal["Object"] as never, []) as Record<string, unknown>;
    handler["get"] = trap((args) => outward(get(value, args[1] as string)));
    handler["set"] = trap((args) => set(value, args[1] as string, inward(args[2])));
    handler["has"] = trap((args) => has(value, args[1] as string));
    handler["getPrototypeOf"] = trap(() => outerRoot);
    const target = construct(outerGlobal["Object"] as never, []) as object;
    const outside = construct(ProxyConstructor, [target, handler]) as object;
    link(outside, value);
    return outside;
  }

  /** Runs what may throw in the outer realm. */
  function guarded(action: () => unknown): unknown {
    try {
      return action();
    } catch (error) {
      throw inward(error);
    }
  }

  function call(target: object, self: unknown, args: readonly unknown[]): unknown {
    if (isOver()) throw new constructors.Error("The run has ended.");
    if (outer.readers.has(target)) {
      return guarded(() => inward(apply(target as Callable, unwrap(self), unwrapAll(args))));
    }
    return guarded(() => inward(apply(target as Callable, outward(self), outwardAll(args))));
  }

  function unwrapAll(args: readonly unknown[]): unknown[] {
    const list = create(null) as unknown[];
    for (let index = 0; index < args.length; index += 1) list[index] = unwrap(args[index]);
    list.length = args.length;
    return list;
  }

  return { inward, outward, unwrap, call };
}
