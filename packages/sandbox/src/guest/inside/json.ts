import type { Primordials } from "./primordials.ts";

/** A program's value as JSON text, and what the text can't tell of it. */
export interface EncodedResult {
  /** `undefined` for `undefined`. */
  text: string | undefined;
  /** Lines for the program's output. Empty where the text tells all. */
  notes: string;
}

/** Writes values of a realm as JSON. */
export interface JsonEncoder {
  /**
   * The value as JSON text; `undefined` for `undefined`.
   *
   * @param what - Names the value in messages.
   * @param limit - The most characters of the text.
   * @throws TypeError when the value has no form in JSON; {@link JsonEncoder.TooLargeError}.
   */
  encode(value: unknown, what: string, limit: number): string | undefined;
  /**
   * Encodes a program's result as JSON. A Map becomes an object, or a list of entries where a key is no string; a Set
   * and numbers in a typed array become lists; a BigInt a number, or text where a number would round it; bytes their
   * count.
   *
   * @throws As {@link JsonEncoder.encode}, for functions, symbols, promises and cycles.
   */
  encodeResult(value: unknown, what: string, limit: number): EncodedResult;
  /** Whether an error says that the text was longer than the limit. */
  isTooLarge(error: unknown): error is Error;
}

/**
 * Creates the encoder of a realm.
 *
 * @param standIn - Gives what a result has in place of an object.
 */
export function createJsonEncoder(
  primordials: Primordials,
  standIn: (value: object) => object | undefined,
): JsonEncoder {
  const { SafeWeakMap, apply, execPattern, isArray, isFiniteNumber, isInstance, isView, keys, quote } =
    primordials;
  const { PromiseConstructor, forEachEntry, forEachMember } = primordials;
  /** The deepest nesting of a value that crosses between guest and host; the host has the same limit. */
  const MAX_DEPTH = 500;
  /** The most values in one; the host has the same limit. */
  const MAX_VALUES = 1_000_000;
  const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
  const MapConstructor = Map;
  const SetConstructor = Set;
  const ErrorConstructor = Error;
  const NumberBox = Number;
  const StringBox = String;
  const BooleanBox = Boolean;
  const BytesConstructor = Uint8Array;
  const ClampedConstructor = Uint8ClampedArray;
  const DataViewConstructor = DataView;
  const BufferConstructor = ArrayBuffer;
  const MAX_NOTES = 5;
  const MAX_SAFE = 9_007_199_254_740_991n;

  /** Thrown when a value has no form in JSON; the message says where and what to do. */
  class NotJsonError extends TypeError {
    override readonly name = "TypeError";
  }
  /** Thrown when the JSON text is longer than the limit. */
  class TooLargeError extends Error {}

  interface Encoder {
    text: string;
    limit: number;
    values: number;
    what: string;
    /** Objects from the root to here. */
    open: InstanceType<typeof SafeWeakMap<boolean>>;
    /** Whether collections, bytes and large integers are written as what comes closest. */
    isResult: boolean;
    notes: string;
    noteCount: number;
  }

  function begin(what: string, limit: number, isResult: boolean): Encoder {
    return { text: "", limit, values: 0, what, open: new SafeWeakMap(), isResult, notes: "", noteCount: 0 };
  }

  function encode(value: unknown, what: string, limit: number): string | undefined {
    if (value === undefined) return undefined;
    const encoder = begin(what, limit, false);
    write(encoder, value, "", 0);
    return encoder.text;
  }

  function encodeResult(value: unknown, what: string, limit: number): EncodedResult {
    if (value === undefined) return { text: undefined, notes: "" };
    const encoder = begin(what, limit, true);
    write(encoder, value, "", 0);
    const left = encoder.noteCount - MAX_NOTES;
    const more = left > 0 ? `Note: ${left} more values are like these.\n` : "";
    return { text: encoder.text, notes: encoder.notes + more };
  }

  function note(encoder: Encoder, path: string, text: string): void {
    encoder.noteCount += 1;
    if (encoder.noteCount <= MAX_NOTES) encoder.notes += `Note: ${encoder.what}${path} ${text}\n`;
  }

  function refuse(encoder: Encoder, path: string, is: string, hint: string): never {
    throw new NotJsonError(`${encoder.what}${path} ${is}, which JSON can't carry. ${hint}`);
  }

  function write(encoder: Encoder, value: unknown, path: string, depth: number): void {
    encoder.values += 1;
    if (encoder.values > MAX_VALUES) {
      throw new NotJsonError(
        `${encoder.what} has more than ${MAX_VALUES} values inside. Leave some out, or write them to a file in /workspace.`,
      );
    }
    switch (typeof value) {
      case "string":
        put(encoder, quote(value));
        return;
      case "number":
        if (!isFiniteNumber(value))
          note(encoder, path, `is ${value}, which JSON can't carry: it is null here.`);
        put(encoder, isFiniteNumber(value) ? `${value}` : "null");
        return;
      case "boolean":
        put(encoder, value ? "true" : "false");
        return;
      case "undefined":
        put(encoder, "null");
        return;
      case "bigint":
        if (!encoder.isResult) refuse(encoder, path, "is a BigInt", "Use Number() or String() on it.");
        put(encoder, value <= MAX_SAFE && value >= -MAX_SAFE ? `${value}` : quote(`${value}`));
        return;
      case "symbol":
        return refuse(encoder, path, "is a symbol", "Use its description.");
      case "function":
        return refuse(encoder, path, "is a function", "Call it and use what it gives.");
      default:
        if (value === null) put(encoder, "null");
        else writeObject(encoder, value as object, path, depth);
    }
  }

  function put(encoder: Encoder, text: string): void {
    encoder.text += text;
    if (encoder.text.length > encoder.limit) {
      throw new TooLargeError(`${encoder.what} is larger than ${encoder.limit} bytes as JSON`);
    }
  }

  function writeObject(encoder: Encoder, value: object, path: string, depth: number): void {
    if (depth >= MAX_DEPTH) refuse(encoder, "", `is nested deeper than ${MAX_DEPTH} levels`, "Flatten it.");
    if (encoder.open.get(value) === true)
      refuse(encoder, path, "refers back to itself", "Leave that part out.");
    const other = encoder.isResult ? standIn(value) : undefined;
    if (other !== undefined) return writeMembers(encoder, other, path, depth);
    encoder.open.set(value, true);
    if (encoder.isResult && writeCollection(encoder, value, path, depth)) {
      encoder.open.set(value, false);
      return;
    }
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === "function") write(encoder, apply(toJSON, value, [""]), path, depth + 1);
    else if (isArray(value)) writeArray(encoder, value, path, depth);
    else writeMembers(encoder, plain(encoder, value, path), path, depth);
    encoder.open.set(value, false);
  }

  /** Writes a collection or bytes as what comes closest. False for anything else. */
  function writeCollection(encoder: Encoder, value: object, path: string, depth: number): boolean {
    if (isInstance(MapConstructor, value)) writeMap(encoder, value, path, depth);
    else if (isInstance(SetConstructor, value)) writeSet(encoder, value, path, depth);
    else if (isBytes(value)) {
      const { byteLength } = value as ArrayBuffer;
      note(
        encoder,
        path,
        `holds ${byteLength} bytes, which JSON can't carry. Write them to a file in /workspace and return its path, or return text.`,
      );
      put(encoder, `{"type":"bytes","bytes":${byteLength}}`);
    } else if (isView(value)) writeArray(encoder, value as unknown as unknown[], path, depth);
    else return false;
    return true;
  }

  function isBytes(value: object): boolean {
    return (
      isInstance(BytesConstructor, value) ||
      isInstance(ClampedConstructor, value) ||
      isInstance(DataViewConstructor, value) ||
      isInstance(BufferConstructor, value)
    );
  }

  function writeMap(encoder: Encoder, map: object, path: string, depth: number): void {
    let hasNames = true;
    forEachEntry(map, (_, key) => {
      if (typeof key !== "string") hasNames = false;
    });
    let index = 0;
    put(encoder, hasNames ? "{" : "[");
    forEachEntry(map, (item, key) => {
      const place = hasNames ? `${path}${stepTo(key as string)}` : `${path}[${index}]`;
      put(encoder, index > 0 ? "," : "");
      if (hasNames) put(encoder, `${quote(key as string)}:`);
      else {
        put(encoder, "[");
        write(encoder, key, `${place}[0]`, depth + 1);
        put(encoder, ",");
      }
      write(encoder, item, hasNames ? place : `${place}[1]`, depth + 1);
      if (!hasNames) put(encoder, "]");
      index += 1;
    });
    put(encoder, hasNames ? "}" : "]");
  }

  function writeSet(encoder: Encoder, set: object, path: string, depth: number): void {
    let index = 0;
    put(encoder, "[");
    forEachMember(set, (item) => {
      put(encoder, index > 0 ? "," : "");
      write(encoder, item, `${path}[${index}]`, depth + 1);
      index += 1;
    });
    put(encoder, "]");
  }

  function stepTo(name: string): string {
    return execPattern(IDENTIFIER, name) === null ? `[${quote(name)}]` : `.${name}`;
  }

  /** The JSON representation of objects whose own members are not meaningful. */
  function plain(encoder: Encoder, value: object, path: string): object {
    if (isInstance(NumberBox, value) || isInstance(StringBox, value) || isInstance(BooleanBox, value)) {
      refuse(encoder, path, "is a boxed primitive", "Use its plain value.");
    }
    if (isInstance(PromiseConstructor, value))
      refuse(encoder, path, "is a promise", "Put `await` before it.");
    if (isInstance(MapConstructor, value)) refuse(encoder, path, "is a Map", "Use Object.fromEntries(map).");
    if (isInstance(SetConstructor, value)) refuse(encoder, path, "is a Set", "Use [...set].");
    if (isView(value)) refuse(encoder, path, "holds bytes", "Use Array.from(bytes) or text.");
    if (!isInstance(ErrorConstructor, value)) return value;
    const { name, message } = value as Error;
    return { name, message };
  }

  function writeArray(encoder: Encoder, value: unknown[], path: string, depth: number): void {
    put(encoder, "[");
    for (let index = 0; index < value.length; index += 1) {
      if (index > 0) put(encoder, ",");
      write(encoder, value[index], `${path}[${index}]`, depth + 1);
    }
    put(encoder, "]");
  }

  function writeMembers(encoder: Encoder, value: object, path: string, depth: number): void {
    const names = keys(value);
    let first = true;
    put(encoder, "{");
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index] as string;
      const member = (value as Record<string, unknown>)[name];
      if (member === undefined) continue;
      put(encoder, `${first ? "" : ","}${quote(name)}:`);
      first = false;
      write(encoder, member, path + stepTo(name), depth + 1);
    }
    put(encoder, "}");
  }

  return { encode, encodeResult, isTooLarge: (error): error is Error => isInstance(TooLargeError, error) };
}
