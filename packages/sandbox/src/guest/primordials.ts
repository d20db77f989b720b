// oxlint-disable typescript/unbound-method -- methods are taken from their prototypes on purpose, to be called with any `this`
/**
 * Built-ins that the runner uses, captured before any program runs, so that a program that patches `JSON.parse` or
 * `Array.prototype.push` changes nothing here. For the same reason the runner iterates arrays by index and never spreads
 * them.
 */
type Method = (...args: never[]) => unknown;
type Uncurried<Call extends Method> = (self: unknown, ...args: Parameters<Call>) => ReturnType<Call>;

const { bind, call } = Function.prototype;
const uncurry = bind.bind(call) as unknown as <Call extends Method>(method: Call) => Uncurried<Call>;

export const parseJson = JSON.parse as (text: string) => unknown;
const stringify = JSON.stringify;
/** A string as JSON. Only for strings: no `toJSON` is looked up for them. */
export const quote = (text: string): string => stringify(text);

export const PromiseConstructor = Promise;
export const promiseThen = uncurry(Promise.prototype.then) as unknown as <Value, Next>(
  promise: Promise<Value>,
  fulfilled: (value: Value) => Next,
  rejected: (reason: unknown) => Next,
) => Promise<Next>;

export const now = performance.now.bind(performance);
const encoder = new TextEncoder();
export const encode = encoder.encode.bind(encoder);
const decoder = new TextDecoder();
export const decode: (bytes: Uint8Array) => string = decoder.decode.bind(decoder);

export const ByteArray = Uint8Array;
export const subarray = uncurry(Uint8Array.prototype.subarray) as (
  self: Uint8Array,
  start: number,
  end?: number,
) => Uint8Array;
export const setBytes = uncurry(Uint8Array.prototype.set) as unknown as (
  self: Uint8Array,
  source: Uint8Array,
  offset: number,
) => void;
export const indexOfByte = uncurry(Uint8Array.prototype.indexOf) as unknown as (
  self: Uint8Array,
  byte: number,
  from: number,
) => number;

export const sliceText = uncurry(String.prototype.slice) as (
  self: string,
  start: number,
  end?: number,
) => string;
export const startsWith = uncurry(String.prototype.startsWith) as (self: string, prefix: string) => boolean;
export const endsWith = uncurry(String.prototype.endsWith) as (self: string, ending: string) => boolean;
export const includesText = uncurry(String.prototype.includes) as (self: string, part: string) => boolean;
export const indexOfText = uncurry(String.prototype.indexOf) as (
  self: string,
  part: string,
  from: number,
) => number;
export const execPattern = uncurry(RegExp.prototype.exec) as (
  self: RegExp,
  text: string,
) => RegExpExecArray | null;
export const toText = String;
export const isFiniteNumber = Number.isFinite;

export const { apply, construct, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
export const { create, freeze, is, keys, defineProperty } = Object;
export const { isArray } = Array;
export const { max, min } = Math;
export const isView: (value: unknown) => boolean = ArrayBuffer.isView.bind(ArrayBuffer);
export const ProxyConstructor = Proxy;
export const BlobConstructor = Blob;
export const UrlConstructor = URL;
export const createObjectUrl = URL.createObjectURL.bind(URL);
export const revokeObjectUrl = URL.revokeObjectURL.bind(URL);

const weakGet = uncurry(WeakMap.prototype.get) as (self: WeakMap<object, unknown>, key: object) => unknown;
const weakSet = uncurry(WeakMap.prototype.set) as unknown as (
  self: WeakMap<object, unknown>,
  key: object,
  value: unknown,
) => void;

/** A weak map that is safe from patched prototypes. */
export class SafeWeakMap<Value> {
  readonly #map = new WeakMap<object, unknown>();
  get(key: object): Value | undefined {
    return weakGet(this.#map, key) as Value | undefined;
  }
  set(key: object, value: Value): void {
    weakSet(this.#map, key, value);
  }
}

/** `value instanceof type`, unaffected by a patched `Symbol.hasInstance`. */
export const isInstance = uncurry(Function.prototype[Symbol.hasInstance]) as unknown as (
  type: unknown,
  value: unknown,
) => boolean;

/**
 * Keeps `Function.prototype.call` as it is: Deno's own reading of stdin goes through it. Functions may still have a
 * `call` of their own.
 */
export function protectCall(): void {
  const prototype = Function.prototype;
  defineProperty(prototype, "call", {
    get: () => call,
    set(this: object, value: unknown) {
      if (this === prototype) throw new TypeError("Function.prototype.call can't be replaced here.");
      defineProperty(this, "call", { value, writable: true, enumerable: true, configurable: true });
    },
    configurable: false,
  });
}
