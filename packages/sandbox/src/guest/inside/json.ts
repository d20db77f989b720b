import type { Primordials } from "./primordials.ts";

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
  /** Whether an error says that the text was longer than the limit. */
  isTooLarge(error: unknown): error is Error;
}

/** Creates the encoder of a realm. */
export function createJsonEncoder(primordials: Primordials): JsonEncoder {
  const { SafeWeakMap, apply, execPattern, isArray, isFiniteNumber, isInstance, isView, keys, quote } =
    primordials;
  const { PromiseConstructor } = primordials;
  /** The deepest nesting of a value that crosses between guest and host; the host has the same limit. */
  const MAX_DEPTH = 500;
  const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
  const MapConstructor = Map;
  const SetConstructor = Set;
  const ErrorConstructor = Error;
  const NumberBox = Number;
  const StringBox = String;
  const BooleanBox = Boolean;

  /** Thrown when a value has no form in JSON; the message says where and what to do. */
  class NotJsonError extends TypeError {
    override readonly name = "TypeError";
  }
  /** Thrown when the JSON text is longer than the limit. */
  class TooLargeError extends Error {}

  interface Encoder {
    text: string;
    limit: number;
    what: string;
    /** Objects from the root to here. */
    open: InstanceType<typeof SafeWeakMap<boolean>>;
  }

  function encode(value: unknown, what: string, limit: number): string | undefined {
    if (value === undefined) return undefined;
    const encoder: Encoder = { text: "", limit, what, open: new SafeWeakMap() };
    write(encoder, value, "", 0);
    return encoder.text;
  }

  function refuse(encoder: Encoder, path: string, is: string, hint: string): never {
    throw new NotJsonError(`${encoder.what}${path} ${is}, which JSON can't carry. ${hint}`);
  }

  function write(encoder: Encoder, value: unknown, path: string, depth: number): void {
    switch (typeof value) {
      case "string":
        put(encoder, quote(value));
        return;
      case "number":
        put(encoder, isFiniteNumber(value) ? `${value}` : "null");
        return;
      case "boolean":
        put(encoder, value ? "true" : "false");
        return;
      case "undefined":
        put(encoder, "null");
        return;
      case "bigint":
        return refuse(encoder, path, "is a BigInt", "Use Number() or String() on it.");
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
    encoder.open.set(value, true);
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === "function") write(encoder, apply(toJSON, value, [""]), path, depth + 1);
    else if (isArray(value)) writeArray(encoder, value, path, depth);
    else writeMembers(encoder, plain(encoder, value, path), path, depth);
    encoder.open.set(value, false);
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
      const step = execPattern(IDENTIFIER, name) === null ? `[${quote(name)}]` : `.${name}`;
      write(encoder, member, path + step, depth + 1);
    }
    put(encoder, "}");
  }

  return { encode, isTooLarge: (error): error is Error => isInstance(TooLargeError, error) };
}
