import type { ConvertError } from "./errors.ts";
import type { Origin } from "./membrane-types.ts";
import type { OutwardSettings } from "./outward.ts";
import type { Copies, Primordials } from "./primordials.ts";
import type { StandIns } from "./stand-ins.ts";

/**
 * Makes a value of this realm of one of the outer realm.
 *
 * @param origin - `made` unless it is known to be there for all runs.
 */
export type Inward = (value: unknown, origin?: Origin) => unknown;

/** Settings of {@link createInward}, provided by the membrane. */
export interface InwardSettings extends OutwardSettings {
  convertError: ConvertError;
  replacement(name: string): object | undefined;
  standIns: StandIns;
}

/** Creates the way in. Data is copied, bytes are viewed anew, functions and instances of classes get a stand-in. */
export function createInward(primordials: Primordials, settings: InwardSettings): Inward {
  const { links, outer, copyView, isOver, convertError, replacement, standIns } = settings;
  const { PromiseConstructor, SafeWeakMap, addEntry, addMember, constructors, create, defineValue } =
    primordials;
  const { flagsOf, forEachEntry, forEachMember, getPrototypeOf, isArray, ownKeys, ownProperty } = primordials;
  const { promiseThen, setPrototypeOf, sourceOf, timeOf, typedArrayBuffer, typedArrayName } = primordials;
  const { dataViewBuffer, viewConstructors } = primordials;
  const { innerOf, link, isInner, isObject } = links;
  const { is, live, replaced, shared, toGuest } = outer;
  const outerRoot = outer.intrinsics[0] as object;
  const innerRoot = innerOf(outerRoot) as object;
  function inward(value: unknown, origin: Origin = "made"): unknown {
    return isObject(value) ? inwardObject(value, undefined, origin) : inwardData(value);
  }

  function inwardData(value: unknown): unknown {
    return toGuest === undefined || typeof value !== "string" ? value : toGuest.path(value);
  }

  function inwardObject(value: object, copies: Copies | undefined, origin: Origin): object {
    const known = innerOf(value) ?? (copies?.get(value) as object | undefined);
    if (known !== undefined) return known;
    if (isInner(value)) return value;
    const name = origin === "made" ? undefined : replaced.get(value);
    if (name !== undefined) return replace(value, name);
    if (typeof value === "function") return standIns.forFunction(value, origin);
    const prototype = getPrototypeOf(value);
    if (prototype !== null && standIns.isClass(prototype))
      return standIns.forInstance(value, prototype, origin);
    if (is.promise(value)) return inwardPromise(value as Promise<unknown>);
    if (is.arrayBufferView(value)) return inwardView(value);
    if (is.anyArrayBuffer(value)) return adoptBuffer(value);
    if (is.nativeError(value))
      return convertError(value as Error, standIns.prototypeOf(getPrototypeOf(value)));
    if (isArray(value)) return copyList(value, copies);
    if (live.has(value)) return standIns.forLive(value);
    if (prototype === null || prototype === outerRoot) return inwardPlain(value, prototype, origin, copies);
    return copyCollection(value, copies) ?? standIns.forInstance(value, prototype, origin);
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
    const prototype = standIns.prototypeOf(getPrototypeOf(view));
    if (prototype !== getPrototypeOf(inside)) setPrototypeOf(inside, prototype);
    link(view, inside);
    return inside;
  }

  /** Bytes lead nowhere else: they become this realm's by their prototype alone. */
  function adoptBuffer(buffer: object): object {
    if (!isInner(buffer)) setPrototypeOf(buffer, standIns.prototypeOf(getPrototypeOf(buffer)));
    return buffer;
  }

  function copyList(list: readonly unknown[], copies: Copies = new SafeWeakMap()): object {
    const copy: unknown[] = [];
    copies.set(list, copy);
    for (let index = 0; index < list.length; index += 1) {
      const item = list[index];
      if (item === undefined && ownProperty(list, `${index}`) === undefined) continue;
      defineValue(
        copy,
        `${index}`,
        isObject(item) ? inwardObject(item, copies, "made") : inwardData(item),
        true,
      );
    }
    copy.length = list.length;
    return copy;
  }

  function copyCollection(value: object, copies: Copies = new SafeWeakMap()): object | undefined {
    const convert = (item: unknown) =>
      isObject(item) ? inwardObject(item, copies, "made") : inwardData(item);
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
      standIns.copyMembers(value, copy, origin);
      return copy;
    }
    copies.set(value, copy);
    for (let index = 0; index < names.length; index += 1) {
      const key = names[index] as string | symbol;
      if (typeof key === "symbol") continue;
      const member = (value as Record<string, unknown>)[key];
      const copied = isObject(member) ? inwardObject(member, copies, origin) : inwardData(member);
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

  return inward;
}
