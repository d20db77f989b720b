import type { Primordials } from "./primordials.ts";

/**
 * Gives the text of an object that a program prints: compact JSON, which is whole and which a model reads well. What JSON
 * has no form for has a name: `Map(1) {"a":1}`, `Point {"x":1}`, `[Circular]`.
 */
export type Printer = (value: object) => string;

/**
 * Creates the printer of a realm.
 *
 * @param inspect - Prints what the runtime prints better: errors, functions, and objects of its own.
 */
export function createPrinter(
  primordials: Primordials,
  inspect?: (value: unknown, options?: object) => string,
): Printer {
  const { SafeWeakMap, apply, create, execPattern, forEachEntry, forEachMember } = primordials;
  const { getPrototypeOf, has, isArray, isFiniteNumber, keys, ownProperty, quote } = primordials;
  const { sliceText, symbols, timeOf, toText, typedArrayLength, typedArrayName } = primordials;
  const MAX_CHARACTERS = 64 * 1024;
  /** Of an object whose text is longer. */
  const SHOWN_CHARACTERS = 8 * 1024;
  const MAX_DEPTH = 200;
  const MAX_NAMED_KEYS = 30;
  const MAX_NAME_CHARACTERS = 80;
  /** Longer bytes are counted, not shown. */
  const MAX_SHOWN_BYTES = 32;
  const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
  /** Long enough to be no word or digest. */
  const BASE64 =
    /^(?:data:([\w.+/-]{0,100})[^,]{0,100};base64,)?(?=[^,]*[a-z])(?=[^,]*[A-Z])(?=[^,]*\d)[\w+/-]{256,}={0,2}$/;
  const toIso = Date.prototype.toISOString;
  const patternText = RegExp.prototype.toString;
  const objectRoot = Object.prototype;
  const IN_ONE_LINE = { __proto__: null, compact: true, breakLength: Infinity, depth: 3 };
  const MAX_CAUSES = 8;
  /** Whether a getter of a built-in takes an object for its own. */
  const takes = (read: (value: unknown) => unknown, value: object): boolean => {
    try {
      read(value);
      return true;
    } catch {
      return false;
    }
  };
  const is = {
    nativeError: primordials.isNativeError,
    arrayBufferView: primordials.isView,
    anyArrayBuffer: (value: object) =>
      takes(primordials.lengthOfBuffer, value) || takes(primordials.lengthOfSharedBuffer, value),
    date: (value: object) => takes(timeOf, value),
    map: (value: object) => takes(primordials.sizeOfMap, value),
    set: (value: object) => takes(primordials.sizeOfSet, value),
    promise: (value: object) => primordials.isInstance(primordials.PromiseConstructor, value),
    regExp: (value: object) => primordials.isInstance(primordials.RegExpConstructor, value),
  };

  interface Text {
    text: string;
    /** Objects from the root to here. */
    open: InstanceType<typeof SafeWeakMap<boolean>>;
  }
  /** Thrown when the text is longer than is shown. */
  const TOO_LONG = create(null) as object;

  function put(out: Text, text: string): void {
    out.text += text;
    if (out.text.length > MAX_CHARACTERS) throw TOO_LONG;
  }

  function write(out: Text, value: unknown, depth: number): void {
    if (typeof value === "string") put(out, quote(withoutBase64(value)));
    else if (typeof value === "bigint") put(out, `${value}n`);
    else if (typeof value === "function") put(out, `[Function: ${nameOf(value) || "(anonymous)"}]`);
    else if (typeof value !== "object" || value === null) put(out, toText(value));
    else if (out.open.get(value) === true) put(out, "[Circular]");
    else if (depth === MAX_DEPTH) put(out, "[Object]");
    else {
      out.open.set(value, true);
      writeObject(out, value, depth + 1);
      out.open.set(value, false);
    }
  }

  function writeObject(out: Text, value: object, depth: number): void {
    if (is.nativeError(value)) return put(out, `[${toText(value)}]`);
    if (is.arrayBufferView(value) || is.anyArrayBuffer(value)) return writeBytes(out, value, depth);
    if (is.date(value)) return put(out, quote(dateText(value)));
    if (is.map(value)) return writeMap(out, value, depth);
    if (is.set(value)) return writeSet(out, value, depth);
    if (isArray(value)) return writeItems(out, value, value.length, depth);
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === "function") return write(out, apply(toJSON, value, [""]), depth);
    if (is.regExp(value)) return put(out, apply(patternText, value, []) as string);
    if (isPrintedByRuntime(value)) return put(out, named(value, IN_ONE_LINE));
    const name = classOf(value);
    if (name !== "") put(out, `${name} `);
    writeMembers(out, value, depth);
  }

  /** Whether the runtime prints an object: a built-in, one with its own printer, or one with more than its members. */
  function isPrintedByRuntime(value: object): boolean {
    for (let index = 0; index < symbols.printers.length; index += 1)
      if (has(value, symbols.printers[index] as symbol)) return true;
    if (is.regExp(value) || is.promise(value)) return true;
    const prototype = getPrototypeOf(value);
    if (prototype === null || prototype === objectRoot) return false;
    return has(value, symbols.toStringTag) || keys(value).length === 0;
  }

  /** An object that has more to it than members: by its name only, where there is no runtime to ask. */
  function named(value: object, options?: object): string {
    if (inspect !== undefined) return inspect(value, options);
    const { [symbols.toStringTag]: tag } = value as { [symbols.toStringTag]?: unknown };
    const name = typeof tag === "string" ? tag : classOf(value);
    return keys(value).length === 0 && typeof tag !== "string"
      ? `${name || "Object"} {}`
      : `[${name || "Object"}]`;
  }

  function writeMembers(out: Text, value: object, depth: number): void {
    const names = keys(value);
    put(out, "{");
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index] as string;
      put(out, `${index > 0 ? "," : ""}${quote(name)}:`);
      let member: unknown;
      try {
        member = (value as Record<string, unknown>)[name];
      } catch {
        put(out, "[Getter]");
        continue;
      }
      write(out, member, depth);
    }
    put(out, "}");
  }

  function writeItems(out: Text, list: ArrayLike<unknown>, length: number, depth: number): void {
    put(out, "[");
    for (let index = 0; index < length; index += 1) {
      if (index > 0) put(out, ",");
      write(out, list[index], depth);
    }
    put(out, "]");
  }

  function writeMap(out: Text, map: object, depth: number): void {
    let size = 0;
    let hasNames = true;
    forEachEntry(map, (_, key) => {
      size += 1;
      hasNames &&= typeof key === "string";
    });
    let index = 0;
    put(out, `Map(${size}) ${hasNames ? "{" : "["}`);
    forEachEntry(map, (item, key) => {
      put(out, `${index > 0 ? "," : ""}${hasNames ? "" : "["}`);
      write(out, key, depth);
      put(out, hasNames ? ":" : ",");
      write(out, item, depth);
      if (!hasNames) put(out, "]");
      index += 1;
    });
    put(out, hasNames ? "}" : "]");
  }

  function writeSet(out: Text, set: object, depth: number): void {
    const items = create(null) as unknown[];
    let size = 0;
    forEachMember(set, (item) => {
      items[size] = item;
      size += 1;
    });
    put(out, `Set(${size}) `);
    writeItems(out, items, size, depth);
  }

  function writeBytes(out: Text, value: object, depth: number): void {
    const name = is.arrayBufferView(value) ? (typedArrayName(value) ?? "DataView") : "ArrayBuffer";
    const { byteLength } = value as ArrayBuffer;
    const isList = name !== "DataView" && name !== "ArrayBuffer";
    const isOfBytes = execPattern(/^U?[Ii]nt8/, name) !== null;
    if (!isList || (isOfBytes && byteLength > MAX_SHOWN_BYTES))
      return put(out, `[${name}: ${byteLength} bytes]`);
    const length = typedArrayLength(value);
    put(out, `${name}(${length}) `);
    writeItems(out, value as ArrayLike<unknown>, length, depth);
  }

  function withoutBase64(text: string): string {
    const found = text.length < MAX_SHOWN_BYTES ? null : execPattern(BASE64, text);
    if (found === null) return text;
    return `[${found[1] === undefined ? "" : `${found[1]} as `}base64: ${text.length} characters]`;
  }

  function dateText(date: object): string {
    return isFiniteNumber(timeOf(date)) ? (apply(toIso, date, []) as string) : "Invalid Date";
  }

  function nameOf(value: object): string {
    const name = ownProperty(value, "name")?.value as unknown;
    return typeof name === "string" ? sliceText(name, 0, MAX_NAME_CHARACTERS) : "";
  }

  /** The name of an object's class; empty for a plain object. */
  function classOf(value: object): string {
    const prototype = getPrototypeOf(value);
    if (prototype === null || prototype === objectRoot) return "";
    const { constructor } = value as { constructor?: unknown };
    return typeof constructor === "function" ? nameOf(constructor) : "";
  }

  /** An error with its stack, its own members, and its cause. */
  function errorText(error: unknown, depth: number): string {
    if (!is.nativeError(error))
      return typeof error === "object" && error !== null ? print(error) : toText(error);
    const { stack, cause } = error as Error;
    let text = typeof stack === "string" && stack !== "" ? stack : toText(error);
    const names = keys(error as object);
    const own = create(null) as Record<string, unknown>;
    let count = 0;
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index] as string;
      if (name === "stack" || name === "message" || name === "name" || name === "cause") continue;
      own[name] = (error as Record<string, unknown>)[name];
      count += 1;
    }
    if (count > 0) text += ` ${print(own)}`;
    return cause === undefined || depth > MAX_CAUSES
      ? text
      : `${text}\nCaused by ${errorText(cause, depth + 1)}`;
  }

  function print(value: object): string {
    const out: Text = { __proto__: null, text: "", open: new SafeWeakMap() } as never;
    try {
      if (is.nativeError(value) || typeof value === "function") {
        if (inspect !== undefined) return inspect(value);
        if (typeof value !== "function") return errorText(value, 0);
      }
      if (is.date(value)) return dateText(value);
      if (!isData(value)) {
        const { toJSON } = value as { toJSON?: unknown };
        if (typeof toJSON !== "function" && is.regExp(value)) return apply(patternText, value, []) as string;
        if (typeof toJSON !== "function" && typeof value !== "function" && isPrintedByRuntime(value))
          return named(value);
        const told = typeof toJSON === "function" ? apply(toJSON, value, [""]) : undefined;
        if (typeof told === "string") return told;
      }
      write(out, value, 0);
      return out.text;
    } catch (error) {
      if (error === TOO_LONG) return beginning(out, value);
      return inspect === undefined ? "[Object]" : inspect(value);
    }
  }

  function isData(value: object): boolean {
    return (
      isArray(value) ||
      is.arrayBufferView(value) ||
      is.anyArrayBuffer(value) ||
      is.map(value) ||
      is.set(value)
    );
  }

  /** The beginning of a long text, and what the rest has. */
  function beginning({ text }: Text, value: object): string {
    const isList = isArray(value);
    const names = isList ? [] : keys(value);
    const parts = isList ? `${value.length} items` : keysText(names);
    const part = isList ? "list.slice(0, 10)" : "value.key";
    const first = isList ? (value as unknown[])[0] : undefined;
    const items =
      typeof first === "object" && first !== null && !isArray(first)
        ? `, the first with ${keysText(keys(first))}`
        : "";
    return `${sliceText(text, 0, SHOWN_CHARACTERS)}\n[Only the first ${SHOWN_CHARACTERS} characters are shown of more than ${MAX_CHARACTERS}. It has ${parts}${items}. Print a part (${part}), or return it: a long result is kept whole.]`;
  }

  function keysText(names: readonly string[]): string {
    let text = "the keys ";
    for (let index = 0; index < names.length && index < MAX_NAMED_KEYS; index += 1) {
      const name = names[index] as string;
      text += `${index > 0 ? ", " : ""}${execPattern(IDENTIFIER, name) === null ? quote(name) : name}`;
    }
    const left = names.length - MAX_NAMED_KEYS;
    return left > 0 ? `${text} and ${left} more` : text;
  }

  return print;
}
