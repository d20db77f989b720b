// oxlint-disable typescript/unbound-method -- methods are taken from their prototypes on purpose, to be called with any `this`
type Method = (...args: never[]) => unknown;
type Uncurried<Call extends Method> = (self: unknown, ...args: Parameters<Call>) => ReturnType<Call>;

/**
 * Built-ins of a realm, captured before any program runs there, so that a program that patches `JSON.parse` or
 * `Array.prototype.push` changes nothing here. For the same reason what uses them iterates arrays by index and never
 * spreads them.
 *
 * Like every function in this folder it stands for itself: its text is evaluated in each realm, so it refers to nothing
 * outside of it.
 */
export function createPrimordials() {
  const { bind, call } = Function.prototype;
  const uncurry = bind.bind(call) as unknown as <Call extends Method>(method: Call) => Uncurried<Call>;
  const { apply, construct, get, getOwnPropertyDescriptor, getPrototypeOf, has, ownKeys, set } = Reflect;
  const { create, defineProperty, freeze, keys, setPrototypeOf } = Object;
  const stringify = JSON.stringify;
  const weakGet = uncurry(WeakMap.prototype.get) as (self: WeakMap<object, unknown>, key: object) => unknown;
  const weakSet = uncurry(WeakMap.prototype.set) as unknown as (
    self: WeakMap<object, unknown>,
    key: object,
    value: unknown,
  ) => void;

  /** A weak map that is safe from patched prototypes. */
  class SafeWeakMap<Value> {
    readonly #map = new WeakMap<object, unknown>();
    get(key: object): Value | undefined {
      return weakGet(this.#map, key) as Value | undefined;
    }
    set(key: object, value: Value): void {
      weakSet(this.#map, key, value);
    }
  }

  return {
    SafeWeakMap,
    apply,
    construct,
    create,
    defineProperty,
    freeze,
    get,
    getOwnPropertyDescriptor,
    getPrototypeOf,
    has,
    keys,
    ownKeys,
    set,
    setPrototypeOf,
    parseJson: JSON.parse as (text: string) => unknown,
    /** A string as JSON. Only for strings: no `toJSON` is looked up for them. */
    quote: (text: string): string => stringify(text),
    PromiseConstructor: Promise,
    promiseThen: uncurry(Promise.prototype.then) as unknown as <Value, Next>(
      promise: Promise<Value>,
      fulfilled: (value: Value) => Next,
      rejected?: (reason: unknown) => Next,
    ) => Promise<Next>,
    ByteArray: Uint8Array,
    subarray: uncurry(Uint8Array.prototype.subarray) as (
      self: Uint8Array,
      start: number,
      end?: number,
    ) => Uint8Array,
    setBytes: uncurry(Uint8Array.prototype.set) as unknown as (
      self: Uint8Array,
      source: Uint8Array,
      offset: number,
    ) => void,
    indexOfByte: uncurry(Uint8Array.prototype.indexOf) as unknown as (
      self: Uint8Array,
      byte: number,
      from: number,
    ) => number,
    sliceText: uncurry(String.prototype.slice) as (self: string, start: number, end?: number) => string,
    startsWith: uncurry(String.prototype.startsWith) as (self: string, prefix: string) => boolean,
    endsWith: uncurry(String.prototype.endsWith) as (self: string, ending: string) => boolean,
    includesText: uncurry(String.prototype.includes) as (self: string, part: string) => boolean,
    indexOfText: uncurry(String.prototype.indexOf) as (self: string, part: string, from: number) => number,
    execPattern: uncurry(RegExp.prototype.exec) as (self: RegExp, text: string) => RegExpExecArray | null,
    forEachEntry: uncurry(Map.prototype.forEach) as unknown as (
      self: unknown,
      visit: (value: unknown, key: unknown) => void,
    ) => void,
    addEntry: uncurry(Map.prototype.set) as unknown as (self: unknown, key: unknown, value: unknown) => void,
    forEachMember: uncurry(Set.prototype.forEach) as unknown as (
      self: unknown,
      visit: (value: unknown) => void,
    ) => void,
    addMember: uncurry(Set.prototype.add) as unknown as (self: unknown, value: unknown) => void,
    timeOf: uncurry(Date.prototype.getTime) as (self: unknown) => number,
    toText: String,
    isFiniteNumber: Number.isFinite,
    isArray: Array.isArray,
    isView: ArrayBuffer.isView as (value: unknown) => boolean,
    max: Math.max,
    min: Math.min,
    ProxyConstructor: Proxy,
    /** `value instanceof type`, unaffected by a patched `Symbol.hasInstance`. */
    isInstance: uncurry(Function.prototype[Symbol.hasInstance]) as unknown as (
      type: unknown,
      value: unknown,
    ) => boolean,
  };
}

/** What {@link createPrimordials} captures. */
export type Primordials = ReturnType<typeof createPrimordials>;
