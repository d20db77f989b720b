type Method = (...args: never[]) => unknown;
type Uncurried<Call extends Method> = (self: unknown, ...args: Parameters<Call>) => ReturnType<Call>;

/**
 * Built-ins of a realm, captured before any program runs there, so that a program that patches `JSON.parse` or
 * `Array.prototype.push` changes nothing here. For the same reason, code that uses them iterates arrays by index and
 * never spreads them.
 *
 * Like every function in this folder it is self-contained: its source is evaluated in each realm, so it must not refer
 * to anything outside.
 */
export function createPrimordials() {
  const { bind, call } = Function.prototype;
  const uncurry = bind.bind(call) as unknown as <Call extends Method>(method: Call) => Uncurried<Call>;
  const { apply, getOwnPropertyDescriptor, getPrototypeOf, has, ownKeys } = Reflect;
  const { create, defineProperty, freeze, keys, setPrototypeOf } = Object;
  const tryDefine = Reflect.defineProperty;
  const stringify = JSON.stringify;
  const WeakMapConstructor = WeakMap;
  const ByteArray = Uint8Array;
  const fromCode = String.fromCharCode;
  const codeAt = uncurry(String.prototype.charCodeAt);
  const subarray = uncurry(Uint8Array.prototype.subarray);
  const promiseThen = uncurry(Promise.prototype.then) as unknown as <Value, Next>(
    promise: Promise<Value>,
    fulfilled: (value: Value) => Next,
    rejected?: (reason: unknown) => Next,
  ) => Promise<Next>;
  /** Maximum number of arguments of one call. */
  const PIECE_BYTES = 4_096;
  const TypedArray = (getPrototypeOf(Uint8Array.prototype) as { constructor: { prototype: object } })
    .constructor;
  const getter = (prototype: object, key: string | symbol) =>
    uncurry(getOwnPropertyDescriptor(prototype, key)?.get as Method) as (self: unknown) => unknown;
  const typedArrayName = getter(TypedArray.prototype, Symbol.toStringTag) as (
    view: unknown,
  ) => string | undefined;
  const lengths = {
    typedArray: getter(TypedArray.prototype, "byteLength"),
    dataView: getter(DataView.prototype, "byteLength"),
    buffer: getter(ArrayBuffer.prototype, "byteLength"),
  };
  const isView = ArrayBuffer.isView as (value: unknown) => boolean;
  const weakGet = uncurry(WeakMap.prototype.get);
  const weakSet = uncurry(WeakMap.prototype.set);
  /** `value instanceof type`, unaffected by a patched `Symbol.hasInstance`. */
  const isInstance = uncurry(Function.prototype[Symbol.hasInstance]);
  const isOneOf =
    (types: readonly object[]) =>
    (value: object): boolean => {
      for (let index = 0; index < types.length; index += 1) if (isInstance(types[index], value)) return true;
      return false;
    };
  const resolved = promiseThen(new Promise<void>((resolve) => resolve()), () => {});
  // Else `then` would look it up, also in a prototype that the program has changed.
  tryDefine(resolved, "constructor", { value: undefined });
  // Created once: creating an object without a prototype takes longer than defining a property.
  const data = create(null) as PropertyDescriptor;
  data.writable = data.configurable = true;

  /** A weak map that is safe from patched prototypes. */
  class SafeWeakMap<Value> {
    readonly #map = new WeakMapConstructor<object, unknown>();
    get(key: object): Value | undefined {
      return weakGet(this.#map, key) as Value | undefined;
    }
    set(key: object, value: Value): void {
      weakSet(this.#map, key, value);
    }
  }

  return {
    SafeWeakMap,
    /** Returns a function's result, or `otherwise` when it throws, as any access to a program's values may. */
    attempt<Result>(action: () => Result, otherwise: Result): Result {
      try {
        return action();
      } catch {
        return otherwise;
      }
    },
    apply: apply as (method: unknown, self: unknown, args: readonly unknown[]) => unknown,
    create,
    defineProperty,
    freeze,
    getPrototypeOf,
    has,
    keys,
    ownKeys,
    setPrototypeOf,
    /** Defines a property as data; `false` when the object doesn't allow it. */
    defineValue(target: object, key: string | symbol, value: unknown, enumerable: boolean): boolean {
      data.value = value;
      data.enumerable = enumerable;
      const isDefined = tryDefine(target, key, data);
      data.value = undefined;
      return isDefined;
    },
    /** The descriptor of an own property, unaffected by a patched `Object.prototype`. */
    ownProperty(target: object, key: string | symbol): PropertyDescriptor | undefined {
      const descriptor = getOwnPropertyDescriptor(target, key);
      return descriptor === undefined ? undefined : (setPrototypeOf(descriptor, null) as PropertyDescriptor);
    },
    stringify,
    parseJson: JSON.parse as (text: string) => unknown,
    /** A string as JSON. Only for strings: no `toJSON` is looked up for them. */
    quote: (text: string): string => stringify(text),
    PromiseConstructor: Promise,
    RegExpConstructor: RegExp,
    promiseThen,
    /** A resolved promise, for code that must run on a stack without frames of the guest. */
    resolved,
    ByteArray,
    subarray,
    /** Bytes as a text with one character for each. */
    byteText(bytes: Uint8Array, count: number): string {
      let text = "";
      for (let from = 0; from < count; from += PIECE_BYTES) {
        const end = from + PIECE_BYTES < count ? from + PIECE_BYTES : count;
        text += apply<undefined, number[], string>(fromCode, undefined, subarray(bytes, from, end) as never);
      }
      return text;
    },
    bytesOf(text: string): Uint8Array {
      const bytes = new ByteArray(text.length);
      for (let index = 0; index < text.length; index += 1) bytes[index] = codeAt(text, index);
      return bytes;
    },
    setBytes: uncurry(Uint8Array.prototype.set),
    indexOfByte: uncurry(Uint8Array.prototype.indexOf),
    sliceText: uncurry(String.prototype.slice),
    includesText: uncurry(String.prototype.includes),
    startsWith: uncurry(String.prototype.startsWith),
    indexOfText: uncurry(String.prototype.indexOf),
    execPattern: uncurry(RegExp.prototype.exec),
    forEachEntry: uncurry(Map.prototype.forEach),
    forEachMember: uncurry(Set.prototype.forEach),
    timeOf: uncurry(Date.prototype.getTime),
    toNumber: Number,
    isNativeError: (Error as unknown as { isError(value: unknown): boolean }).isError,
    toText: String,
    isFiniteNumber: Number.isFinite,
    isArray: Array.isArray,
    isView,
    /** The name of a typed array's type; `undefined` for a `DataView`. */
    typedArrayName,
    /** The true length of a view or a buffer, even if a subclass reports another. @throws TypeError for anything else. */
    byteLength(value: object): number {
      if (!isView(value)) return lengths.buffer(value) as number;
      return (typedArrayName(value) === undefined ? lengths.dataView : lengths.typedArray)(value) as number;
    },
    typedArrayLength: getter(TypedArray.prototype, "length") as (view: unknown) => number,
    max: Math.max,
    ProxyConstructor: Proxy,
    constructors: { __proto__: null as never, Error, RangeError, ReferenceError, SyntaxError, TypeError },
    symbols: {
      __proto__: null as never,
      /** The key by which Node's `promisify` finds a function's own promise version. */
      promisify: Symbol.for("nodejs.util.promisify.custom"),
      /** The keys by which the runtime finds an object's own printer. */
      printers: [
        Symbol.for("Deno.privateCustomInspect"),
        Symbol.for("Deno.customInspect"),
        Symbol.for("nodejs.util.inspect.custom"),
      ],
      dispose: Symbol.dispose,
      toPrimitive: Symbol.toPrimitive,
      toStringTag: Symbol.toStringTag,
    },
    isInstance,
    isBox: isOneOf([Number, String, Boolean]),
    /** Whether it holds bytes, not numbers. */
    isBytes: isOneOf([Uint8Array, Uint8ClampedArray, DataView, ArrayBuffer]),
  };
}

export type Primordials = ReturnType<typeof createPrimordials>;

export type Primitive = string | number | boolean | undefined;

/**
 * The only function through which a realm reaches the guest. It takes and returns primitives only, so that no object of
 * the guest's own realm is ever within a program's reach.
 */
export type HostFunction = (operation: string, ...values: Primitive[]) => Primitive;

/** Asks the guest for something that may fail. @throws an error of the realm. */
export type Ask = (operation: string, ...values: Primitive[]) => string;
