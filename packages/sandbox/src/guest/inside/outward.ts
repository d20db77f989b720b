import type { Links } from "./links.ts";
import type { Membrane, OuterRealm } from "./membrane-types.ts";
import type { Copies, Primordials } from "./primordials.ts";
import type { createViews } from "./views.ts";

type Callable = (...args: unknown[]) => unknown;

/** The way of values from this realm into the outer one. */
export interface Outward {
  /** A value of this realm as one of the outer realm. */
  outward(value: unknown): unknown;
  /** Arguments, in an array without prototypes, so that no setter of the program sees what is put in. */
  outwardAll(args: readonly unknown[]): unknown[];
  /** Converts `this` for a call of a function of the outer realm. */
  outwardSelf(self: unknown, method: object): unknown;
}

/** Settings of {@link createOutward}, provided by the membrane. */
export interface OutwardSettings {
  links: Links;
  outer: OuterRealm;
  membrane: Membrane;
  copyView: ReturnType<typeof createViews>;
  isOver(): boolean;
  spend(): void;
}

/** Creates the way out. Data is copied, bytes are viewed anew, functions and instances of classes get a stand-in. */
export function createOutward(
  primordials: Primordials,
  { links, outer, membrane, copyView, isOver, spend }: OutwardSettings,
): Outward {
  const { ProxyConstructor, SafeWeakMap, addEntry, addMember, apply, construct, create } = primordials;
  const { defineValue, flagsOf, forEachEntry, forEachMember, get, getPrototypeOf, has, isArray } =
    primordials;
  const { getOwnPropertySymbols, keys, toText } = primordials;
  const { ownKeys, ownProperty, promiseThen, set, setPrototypeOf, sourceOf, symbols, timeOf } = primordials;
  const { innerOf, outerOf, link, linkInward, linkOutward, isObject, isOuter } = links;
  const { is, makeFunction, shared } = outer;
  const outerGlobal = outer.global as Record<string, new (...args: unknown[]) => object>;
  const outerRoot = outer.intrinsics[0] as object;
  const innerRoot = innerOf(outerRoot) as object;
  const global = globalThis;
  /** The instances of a program's classes that proxies in the outer realm lead to, by the proxy's target. */
  const instances = new SafeWeakMap<object>();
  let handler: object | undefined;

  function outward(value: unknown): unknown {
    return isObject(value) ? outwardObject(value, undefined) : value;
  }

  function outwardAll(args: readonly unknown[]): unknown[] {
    const list = create(null) as unknown[];
    for (let index = 0; index < args.length; index += 1) list[index] = outward(args[index]);
    list.length = args.length;
    return list;
  }

  function outwardSelf(self: unknown, method: object): unknown {
    if (!isObject(self)) return self;
    if (self === global) return undefined;
    const known = outerOf(self);
    if (known === undefined) return isPlain(self) ? outwardInstance(self) : outwardObject(self, undefined);
    if (shared.has(known) && !shared.owns(known, method)) spend();
    return known;
  }

  function isPlain(value: object): boolean {
    return typeof value !== "function" && !isArray(value) && getPrototypeOf(value) === innerRoot;
  }

  function outwardObject(value: object, copies: Copies | undefined): object {
    const known = outerOf(value) ?? (copies?.get(value) as object | undefined);
    if (known !== undefined) {
      // The runtime could change there what later runs have, too.
      if (shared.has(known)) spend();
      return known;
    }
    if (isOuter(value)) return value;
    if (typeof value === "function") return outwardFunction(value as Callable);
    if (is.promise(value)) return outwardPromise(value as Promise<unknown>, false);
    if (is.arrayBufferView(value)) return outwardView(value);
    if (is.anyArrayBuffer(value)) return value;
    if (is.nativeError(value)) return outwardError(value as Error);
    if (isArray(value)) return outwardList(value, copies);
    const prototype = getPrototypeOf(value);
    if (value !== global && (prototype === null || prototype === innerRoot)) {
      return outwardMembers(value, copies);
    }
    return outwardCollection(value) ?? outwardInstance(value);
  }

  /** Functions of an ended run do nothing. */
  function outwardFunction(method: Callable): object {
    const call = (self: unknown, args: readonly unknown[]): unknown => {
      if (isOver()) return undefined;
      try {
        const list = create(null) as unknown[];
        for (let index = 0; index < args.length; index += 1) list[index] = membrane.inward(args[index]);
        list.length = args.length;
        const result = apply(method, membrane.inward(self), list);
        if (isObject(result) && outerOf(result) === undefined && is.promise(result)) {
          return outwardPromise(result as Promise<unknown>, true);
        }
        return outward(result);
      } catch (error) {
        throw outward(error);
      }
    };
    const outside = makeFunction(
      call,
      ownData(method, "name", "string"),
      ownData(method, "length", "number"),
    );
    link(outside, method);
    const promisified = ownProperty(method, symbols.promisify)?.value as unknown;
    if (typeof promisified === "function")
      defineValue(outside, symbols.promisify, outward(promisified), false);
    return outside;
  }

  function ownData(method: object, key: string, type: "string" | "number"): never {
    const value = ownProperty(method, key)?.value as unknown;
    return (typeof value === type ? value : undefined) as never;
  }

  /** @param isResult - Whether a callback gave it, so that nobody but the runtime can tell of its rejection. */
  function outwardPromise(promise: Promise<unknown>, isResult: boolean): object {
    const start = (resolve: Callable, reject: Callable): void => {
      void promiseThen(
        promise,
        (value) => isOver() || resolve(outward(value)),
        (reason) => isOver() || reject(outward(reason)),
      );
    };
    const executor = makeFunction((_, args) => start(args[0] as Callable, args[1] as Callable));
    const outside = construct(outerGlobal["Promise"], [executor]) as Promise<unknown>;
    link(outside, promise);
    if (!isResult) {
      const ignore = () => {};
      void promiseThen(outside, ignore, ignore);
    }
    return outside;
  }

  function outwardView(view: object): object {
    const outside = copyView(view, outerGlobal);
    let from = getPrototypeOf(view);
    while (from !== null && outerOf(from) === undefined) from = getPrototypeOf(from);
    const prototype = from === null ? null : (outerOf(from) as object);
    if (prototype !== null && prototype !== getPrototypeOf(outside)) setPrototypeOf(outside, prototype);
    link(outside, view);
    return outside;
  }

  function outwardError(error: Error): object {
    const kind = outerOf(getPrototypeOf(error) ?? innerRoot);
    const outside = construct(outerGlobal["Error"], [textOf(error, "message")]);
    if (kind !== undefined) setPrototypeOf(outside, kind);
    link(outside, error);
    const keys = ["name", "stack", "code"];
    for (let index = 0; index < keys.length; index += 1) {
      const key = keys[index] as string;
      if (ownProperty(error, key) !== undefined) defineValue(outside, key, textOf(error, key), false);
    }
    return outside;
  }

  function textOf(object: object, key: string): string {
    try {
      return toText((object as Record<string, unknown>)[key]);
    } catch {
      return "";
    }
  }

  function outwardList(value: readonly unknown[], copies: Copies = new SafeWeakMap()): object {
    const copy = construct(outerGlobal["Array"], [value.length]) as unknown[];
    copies.set(value, copy);
    linkInward(copy, value);
    for (let index = 0; index < value.length; index += 1) {
      const item = value[index];
      if (isObject(item)) copy[index] = outwardObject(item, copies);
      else if (item !== undefined || ownProperty(value, `${index}`) !== undefined) copy[index] = item;
    }
    return copy;
  }

  /** Copies data. If the copy comes back later, it is replaced by the original. */
  function outwardMembers(value: object, copies: Copies = new SafeWeakMap()): object {
    const copy = construct(outerGlobal["Object"], []);
    copies.set(value, copy);
    linkInward(copy, value);
    copyKeys(value, copy, keys(value), copies);
    copyKeys(value, copy, getOwnPropertySymbols(value), copies);
    return copy;
  }

  function copyKeys(from: object, to: object, names: readonly (string | symbol)[], copies: Copies): void {
    for (let index = 0; index < names.length; index += 1) {
      const key = names[index] as string | symbol;
      const member = get(from, key) as unknown;
      defineValue(to, key, isObject(member) ? outwardObject(member, copies) : member, true);
    }
  }

  function outwardCollection(value: object): object | undefined {
    const make = (name: string, args: unknown[]) => construct(outerGlobal[name], args);
    let copy: object | undefined;
    if (is.map(value)) {
      copy = make("Map", []);
      forEachEntry(value, (item, key) => addEntry(copy, outward(key), outward(item)));
    } else if (is.set(value)) {
      copy = make("Set", []);
      forEachMember(value, (item) => addMember(copy, outward(item)));
    } else if (is.date(value)) copy = make("Date", [timeOf(value)]);
    else if (is.regExp(value)) copy = make("RegExp", [sourceOf(value), flagsOf(value)]);
    if (copy !== undefined) linkInward(copy, value);
    return copy;
  }

  /** An instance of a program's own class: the outer realm sees it as it is at every moment. */
  function outwardInstance(value: object): object {
    handler ??= makeHandler();
    const target = construct(outerGlobal["Object"], []);
    instances.set(target, value);
    const outside = construct(ProxyConstructor, [target, handler]);
    link(outside, value);
    return outside;
  }

  function makeHandler(): object {
    const made = create(null) as Record<string, unknown>;
    const trap = (name: string, answer: (instance: object, key: string, value: unknown) => unknown): void => {
      made[name] = makeFunction((_, args) => {
        if (isOver()) return undefined;
        const instance = instances.get(args[0] as object) as object;
        try {
          return answer(instance, args[1] as string, args[2]);
        } catch (error) {
          throw outward(error);
        }
      });
    };
    trap("get", (instance, key) => outward(get(instance, key)));
    trap("set", (instance, key, value) => {
      const inside = membrane.inward(value);
      // The runtime finds again what it has put there, not a copy.
      if (isObject(value)) linkOutward(value, inside as object);
      return set(instance, key, inside);
    });
    trap("has", (instance, key) => has(instance, key));
    trap("getPrototypeOf", () => outerRoot);
    trap("ownKeys", (instance) => ownKeys(instance));
    trap("getOwnPropertyDescriptor", (instance, key) => {
      const found = ownProperty(instance, key);
      if (found === undefined) return undefined;
      const descriptor = create(null) as PropertyDescriptor;
      descriptor.value = outward(get(instance, key));
      descriptor.writable = true;
      descriptor.configurable = true;
      descriptor.enumerable = found.enumerable === true;
      return descriptor;
    });
    return made;
  }

  return { outward, outwardAll, outwardSelf };
}
