import { brands, deno } from "./deno.ts";
import { listIntrinsics } from "./inside/intrinsics.ts";
import type { FunctionKind, OuterRealm, SharedObjects } from "./inside/membrane-types.ts";

type Call = (self: unknown, args: readonly unknown[]) => unknown;

const outerGlobal = globalThis as unknown as Record<string, object>;
const kinds = new WeakMap<object, FunctionKind>();
const live = new WeakSet<object>();
const finite = new WeakMap<object, string>();
const delays = new WeakMap<object, number>();
const replaced = new WeakMap<object, string>();

// V8 makes it in the realm that asks for it first.
void outerGlobal["Temporal"];

/** Lets a function that only reads its arguments have them as they are. */
export function addReader(method: object): void {
  kinds.set(method, "reading");
}

/** Lets a function that changes something for every later run cost the guest. */
export function addLasting(method: object): void {
  kinds.set(method, "lasting");
}

/**
 * Notes a function whose promise a timer settles.
 *
 * @param place - Where its milliseconds are among the arguments.
 */
export function addDelay(method: object, place: number): void {
  delays.set(method, place);
}

/** Notes a function whose promise always settles, or that always calls back: a run is not over before that. */
export function addFinite(method: object, name: string): void {
  finite.set(method, name);
}

/** Lets programs change settings of the runtime, each at the cost of its guest. */
export function addLive(settings: object): void {
  live.add(settings);
}

/** Names what each realm has a version of its own of. */
export function replaceInRealms(object: object, name: string): void {
  replaced.set(object, name);
}

/** Methods of streams that all runs have which leave the stream as it was. */
const STREAM_METHODS = new Set<string | symbol>(["write", "getWindowSize", "getColorDepth", "hasColors"]);

let toGuest: OuterRealm["toGuest"];

/** Sets what replaces host paths in what programs get. */
export function useGuestNames(names: NonNullable<OuterRealm["toGuest"]>): void {
  toGuest = names;
}

class Shared implements SharedObjects {
  /** The methods that an object owns, listed when they are first asked for. */
  readonly #objects = new WeakMap<object, WeakSet<object> | boolean>();

  has(object: object): boolean {
    return this.#objects.has(object);
  }

  add(object: object, isPrototype: boolean): void {
    if (!this.#objects.has(object)) this.#objects.set(object, isPrototype);
  }

  fix(object: object): void {
    let isFixed = true;
    for (const key of Reflect.ownKeys(object)) {
      const descriptor = Object.getOwnPropertyDescriptor(object, key) as PropertyDescriptor;
      if (!("value" in descriptor)) isFixed &&= !descriptor.configurable;
      else Reflect.defineProperty(object, key, { writable: false, configurable: false });
    }
    Object.preventExtensions(object);
    if (!isFixed) this.add(object, false);
  }

  owns(object: object, method: object): boolean {
    const known = this.#objects.get(object);
    if (typeof known === "object") return known.has(method);
    const own = listOwn(object, known === true);
    this.#objects.set(object, own);
    return own.has(method);
  }

  /** Adds an object with the methods that leave it as it was, or whose changes are undone after the run. */
  addWith(object: object, methods: Iterable<object>): void {
    this.#objects.set(object, new WeakSet(methods));
  }
}

/** An instance owns its own methods and those of its class, though not what that inherits; a prototype only getters. */
function listOwn(object: object, isPrototype: boolean): WeakSet<object> {
  const own = new WeakSet<object>();
  const isStream = "pipe" in object;
  for (const from of isPrototype ? [object] : [object, Object.getPrototypeOf(object) as object]) {
    for (const { key, value, get } of membersOf(from)) {
      if (get !== undefined) own.add(get);
      if (value !== undefined && !isPrototype && (!isStream || STREAM_METHODS.has(key))) own.add(value);
    }
  }
  return own;
}

interface Member {
  key: string | symbol;
  /** A method. */
  value?: object | undefined;
  get?: object | undefined;
}

/** Lists the own methods and getters of an object. */
export function* membersOf(object: object): Generator<Member> {
  for (const key of Reflect.ownKeys(object)) {
    const { value, get } = Object.getOwnPropertyDescriptor(object, key) as {
      value?: unknown;
      get?: () => unknown;
    };
    yield { key, value: typeof value === "function" ? value : undefined, get };
  }
}

/** The objects that all runs have. */
export const shared = new Shared();

for (const reader of [deno.inspect, outerGlobal["structuredClone"]]) addReader(reader as object);
for (const name of "clearImmediate clearInterval clearTimeout queueMicrotask setImmediate setInterval setTimeout".split(
  " ",
)) {
  replaceInRealms(outerGlobal[name] as object, name);
}

/** Functions and data that this realm, in which no program runs, passes to the realms of programs. */
export const outerRealm: OuterRealm = Object.freeze({
  __proto__: null,
  global: globalThis,
  intrinsics: listIntrinsics(),
  is: brands,
  makeFunction(call: Call, name = "", length = 0) {
    const made = function (this: unknown, ...args: unknown[]) {
      return call(this, args);
    };
    Object.defineProperties(made, { name: { value: name }, length: { value: length } });
    return made;
  },
  kinds,
  finite,
  delays,
  singletons: new WeakSet([deno.PermissionStatus.prototype]),
  replaced,
  live,
  shared,
  get toGuest() {
    return toGuest;
  },
});
