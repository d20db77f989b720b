import type { ErrorReader } from "./error-members.ts";
import type { Primordials } from "./primordials.ts";
import type { Printing } from "./printing.ts";

type StandIn = (value: object, isResult: boolean) => unknown;

/** @param standIn - Returns the replacement of an object in a result or an argument, if any. */
export function createJsonEncoder(primordials: Primordials, errors: ErrorReader, standIn: StandIn) {
  const { PromiseConstructor, SafeWeakMap, apply, attempt, byteLength, defineValue, execPattern } =
    primordials;
  const { forEachEntry, forEachMember, isArray, isFiniteNumber, isInstance, isView, keys } = primordials;
  const { isBox, isBytes, parseJson, quote, typedArrayLength, typedArrayName } = primordials;
  // Limits of a value that crosses between guest and host: its nesting, its values, and their members' different names.
  const MAX_DEPTH = 500;
  const MAX_VALUES = 1_000_000;
  const MAX_NAMES = 100_000;
  const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
  const MapConstructor = Map;
  const SetConstructor = Set;
  const DateConstructor = Date;
  const DataViewConstructor = DataView;
  const BufferConstructor = ArrayBuffer;
  const { asyncIterator, iterator } = Symbol;
  const MAX_NOTES = 5;
  const MAX_LEFT = 200; // Characters of the names of functions that are left out.
  /** Longer members of errors are left out, in characters. */
  const MAX_COPIED = 65_536;
  const UNREAD = {};
  /** A larger number without an exponent may have lost digits. */
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
    names: Record<string, true>;
    nameCount: number;
    what: string;
    /** The objects on the path from the root. */
    open: InstanceType<typeof SafeWeakMap<boolean>>;
    /** Whether bytes are written in their closest representation. */
    isResult: boolean;
    leavesFunctions: boolean;
    /** Set for a value that is printed. */
    printing: Printing | undefined;
    notes: string;
    noteCount: number;
  }

  function begin(what: string, limit: number, isResult: boolean, printing?: Printing): Encoder {
    const open = new SafeWeakMap<boolean>();
    const counts = { values: 0, names: { __proto__: null } as never, nameCount: 0, noteCount: 0 };
    return { text: "", limit, what, open, isResult, leavesFunctions: false, printing, notes: "", ...counts };
  }

  /**
   * Encodes a value as JSON text; `undefined` for `undefined`. A Map becomes an object, or a list of entries when a key
   * is not a string; a Set and numbers in a typed array become lists; a BigInt beyond the range of exact numbers
   * becomes text.
   *
   * @param what - Names the value in messages.
   * @param limit - Maximum length of the text, in characters.
   * @throws TypeError for NaN, functions, symbols, promises, bytes and cycles; TooLargeError.
   */
  function encode(value: unknown, what: string, limit: number): string | undefined {
    if (value === undefined) return undefined;
    const encoder = begin(what, limit, false);
    write(encoder, value, "", 0);
    return encoder.text;
  }

  /** Encodes a program's result; bytes become their count. Also returns notes for its output on what the text can't express. */
  function encodeResult(value: unknown, what: string, limit: number, leavesFunctions = true) {
    if (value === undefined) return { text: undefined, notes: "" };
    const encoder = begin(what, limit, true);
    encoder.leavesFunctions = leavesFunctions;
    write(encoder, value, "", 0);
    const left = encoder.noteCount - MAX_NOTES;
    const more = left > 0 ? `Note: ${left} more values are like these.\n` : "";
    return { text: encoder.text, notes: encoder.notes + more };
  }

  /**
   * Formats a value as a program prints it: as compact JSON, with names for what JSON can't express, such as `Map(1)
   * {"a":1}`, `Point {"x":1}` and `[Circular]`. Text beyond the limit is cut.
   */
  function encodePrinted(value: unknown, limit: number, printing: Printing) {
    const encoder = begin("", limit, false, printing);
    try {
      write(encoder, value, "", 0);
    } catch (error) {
      if (!isInstance(TooLargeError, error)) throw error;
      return { text: encoder.text, isCut: true };
    }
    return { text: encoder.text, isCut: false };
  }

  function note(encoder: Encoder, path: string, text: string): void {
    encoder.noteCount += 1;
    if (encoder.noteCount <= MAX_NOTES) encoder.notes += `Note: ${encoder.what}${path} ${text}\n`;
  }

  function refuse(encoder: Encoder, path: string, is: string, hint: string): never {
    throw new NotJsonError(`${encoder.what}${path} ${is}, which JSON can't carry. ${hint}`);
  }

  /** Notes that a result has null in place of a value. An argument is refused, since null may mean something to its tool. */
  function lose(encoder: Encoder, path: string, is: string): void {
    if (encoder.isResult) note(encoder, path, `${is}, which JSON can't carry: it is null here.`);
    else if (encoder.printing === undefined) refuse(encoder, path, is, "Mend it, or give null itself.");
  }

  function write(encoder: Encoder, value: unknown, path: string, depth: number): void {
    encoder.values += 1;
    if (encoder.values > MAX_VALUES)
      throw new NotJsonError(
        `${encoder.what} has more than ${MAX_VALUES} values inside. Leave some out, or write them to a file in /workspace.`,
      );
    const { printing } = encoder;
    if (printing !== undefined && (typeof value !== "object" || value === null))
      return put(encoder, typeof value === "string" ? printing.string(value) : printing.primitive(value));
    switch (typeof value) {
      case "string":
        return put(encoder, quote(value));
      case "number":
        if (!isFiniteNumber(value)) lose(encoder, path, `is ${value}`);
        else if (encoder.isResult && (value > MAX_SAFE || value < -MAX_SAFE) && value < 1e21)
          note(
            encoder,
            path,
            `is ${value}, more digits than a number holds: if it is an id, its last are wrong.`,
          );
        return put(encoder, isFiniteNumber(value) ? `${value}` : "null");
      case "boolean":
        return put(encoder, `${value}`);
      case "undefined":
        return put(encoder, "null");
      case "bigint":
        return put(encoder, value <= MAX_SAFE && value >= -MAX_SAFE ? `${value}` : quote(`${value}`));
      case "symbol":
        return refuse(encoder, path, "is a symbol", "Use its description.");
      case "function":
        return refuse(encoder, path, "is a function", "Call it and use what it gives.");
      default:
        if (value === null) put(encoder, "null");
        else writeObject(encoder, value as object, path, depth);
    }
  }

  function countName(encoder: Encoder, name: string): void {
    if (encoder.printing !== undefined || encoder.names[name] === true) return;
    encoder.names[name] = true;
    encoder.nameCount += 1;
    if (encoder.nameCount <= MAX_NAMES) return;
    throw new NotJsonError(
      `${encoder.what} has more than ${MAX_NAMES} different names of members inside. Give a list instead, such as [{ key, value }] or [[key, value]], or write them to a file in /workspace.`,
    );
  }

  function put(encoder: Encoder, text: string): void {
    encoder.text += text;
    if (encoder.text.length > encoder.limit) throw new TooLargeError();
  }

  function writeObject(encoder: Encoder, value: object, path: string, depth: number): void {
    const { open, printing } = encoder;
    const isOpen = open.get(value) === true;
    if (printing !== undefined && (isOpen || depth >= MAX_DEPTH))
      return put(encoder, isOpen ? "[Circular]" : "[Object]");
    if (depth >= MAX_DEPTH) refuse(encoder, "", `is nested deeper than ${MAX_DEPTH} levels`, "Flatten it.");
    if (isOpen) refuse(encoder, path, "refers back to itself", "Leave that part out.");
    // A handle stays one in printed values and in the members of an error, for which `what` is empty.
    const other = encoder.what === "" ? undefined : standIn(value, encoder.isResult);
    if (other !== undefined) return write(encoder, other, path, depth);
    open.set(value, true);
    if (!writeCollection(encoder, value, path, depth)) writePlain(encoder, value, path, depth);
    open.set(value, false);
  }

  function writePlain(encoder: Encoder, value: object, path: string, depth: number): void {
    const { printing } = encoder;
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === "function") {
      const replaced = apply(toJSON, value, [""]);
      if (replaced === null && isInstance(DateConstructor, value)) lose(encoder, path, "is an invalid date");
      return write(encoder, replaced, path, depth + 1);
    }
    if (isArray(value)) return writeArray(encoder, value, path, depth);
    if (printing === undefined && isKeyed(value)) return writeMap(encoder, value, path, depth, forEachPair);
    if (printing === undefined) return writeMembers(encoder, plain(encoder, value, path), path, depth);
    const named = printing.named(value);
    if (named !== undefined) return put(encoder, named);
    const name = printing.className(value);
    put(encoder, name === "" ? "" : `${name} `);
    writeMembers(encoder, value, path, depth);
  }

  /** Writes a collection or bytes in their closest representation. False for anything else. */
  function writeCollection(encoder: Encoder, value: object, path: string, depth: number): boolean {
    if (isInstance(MapConstructor, value)) writeMap(encoder, value, path, depth);
    else if (isInstance(SetConstructor, value)) writeSet(encoder, value, path, depth);
    else if (encoder.printing !== undefined && (isView(value) || isInstance(BufferConstructor, value)))
      writePrintedBytes(encoder, value, path, depth);
    else if (isBytes(value)) {
      if (!encoder.isResult) refuse(encoder, path, "holds bytes", "Use Array.from(bytes) or text.");
      const bytes = byteLength(value);
      note(
        encoder,
        path,
        `holds ${bytes} bytes, which JSON can't carry. Write them to a file in /workspace and return its path, or return text.`,
      );
      put(encoder, `{"type":"bytes","bytes":${bytes}}`);
    } else if (isView(value)) writeArray(encoder, value as unknown as unknown[], path, depth);
    else return false;
    return true;
  }

  function writePrintedBytes(encoder: Encoder, value: object, path: string, depth: number): void {
    const isList = isView(value) && !isInstance(DataViewConstructor, value);
    const name = isList ? typedArrayName(value) : isView(value) ? "DataView" : "ArrayBuffer";
    const bytes = byteLength(value);
    if (!isList || (isBytes(value) && bytes > (encoder.printing as Printing).maxShownBytes))
      return put(encoder, `[${name}: ${bytes} bytes]`);
    put(encoder, `${name}(${typedArrayLength(value)}) `);
    writeArray(encoder, value as unknown as unknown[], path, depth);
  }

  /** Whether it has entries as a Map does, such as Headers and URLSearchParams. */
  function isKeyed(value: object): boolean {
    const { [iterator]: iterate } = value as Record<symbol, unknown>;
    if (typeof iterate !== "function" || keys(value).length > 0) return false;
    const { entries, forEach } = value as Record<string, unknown>;
    return entries === iterate && typeof forEach === "function";
  }

  const forEachPair: typeof forEachEntry = (value, take) =>
    void apply((value as { forEach: unknown }).forEach, value, [take]);

  function writeMap(encoder: Encoder, map: object, path: string, depth: number, each = forEachEntry): void {
    let hasNames = true;
    const entries: [unknown, unknown][] = [];
    const names = { __proto__: null } as unknown as Record<string, true>;
    each(map, (item, key) => {
      defineValue(entries, `${entries.length}`, [key, item], true);
      hasNames &&= typeof key === "string" && names[key] === undefined;
      if (hasNames) names[key as string] = true;
    });
    const { length } = entries; // A program's own forEach may add some while these are written.
    if (encoder.printing !== undefined) put(encoder, `Map(${length}) `);
    if (!hasNames) return writeArray(encoder, entries, path, depth);
    put(encoder, "{");
    for (let index = 0; index < length; index += 1) {
      const { 0: name, 1: item } = entries[index] as [string, unknown];
      countName(encoder, name);
      put(encoder, `${index > 0 ? "," : ""}${quote(name)}:`);
      write(encoder, item, path + stepTo(name), depth + 1);
    }
    put(encoder, "}");
  }

  function writeSet(encoder: Encoder, set: object, path: string, depth: number): void {
    const items: unknown[] = [];
    forEachMember(set, (item) => void defineValue(items, `${items.length}`, item, true));
    if (encoder.printing !== undefined) put(encoder, `Set(${items.length}) `);
    writeArray(encoder, items, path, depth);
  }

  function stepTo(name: string): string {
    return execPattern(IDENTIFIER, name) === null ? `[${quote(name)}]` : `.${name}`;
  }

  /** The JSON representation of objects whose own members are not meaningful. */
  function plain(encoder: Encoder, value: object, path: string): object {
    if (isBox(value)) refuse(encoder, path, "is a boxed primitive", "Use its plain value.");
    if (isInstance(PromiseConstructor, value))
      refuse(encoder, path, "is a promise", "Put `await` before it.");
    const { [iterator]: iterate, [asyncIterator]: wait } = value as Record<symbol, unknown>;
    if (typeof iterate === "function" && keys(value).length === 0)
      refuse(encoder, path, "is an iterator or another iterable", "Spread it into a list: [...it].");
    if (typeof wait === "function" && keys(value).length === 0)
      refuse(encoder, path, "is an async iterator", "Make it a list: await Array.fromAsync(it).");
    if (isInstance(primordials.constructors.Error, value))
      return encoder.isResult ? errorData(value) : errors.toData(value);
    const made = (): unknown => (value as { constructor?: { name?: unknown } }).constructor?.name;
    const kind = encoder.isResult && keys(value).length === 0 ? attempt(made, "") : "";
    if (typeof kind === "string" && kind !== "" && kind !== "Object")
      note(encoder, path, `is a ${kind} without members of its own, which is {} in JSON.`);
    return value;
  }

  function writeArray(encoder: Encoder, value: unknown[], path: string, depth: number): void {
    put(encoder, "[");
    for (let index = 0; index < value.length; index += 1) {
      if (index > 0) put(encoder, ",");
      write(encoder, value[index], `${path}[${index}]`, depth + 1);
    }
    put(encoder, "]");
  }

  const errorData = (error: object) =>
    errors.toData(error, (value) => parseJson(encode(value, "", MAX_COPIED) as string));

  function writeMembers(encoder: Encoder, value: object, path: string, depth: number): void {
    const names = keys(value);
    let functions = "";
    let first = true;
    put(encoder, "{");
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index] as string;
      const read = (): unknown => (value as Record<string, unknown>)[name];
      // A throwing getter is printed as such.
      const member = encoder.printing === undefined ? read() : attempt(read, UNREAD);
      if (member === undefined && encoder.printing === undefined) continue;
      if (encoder.leavesFunctions && typeof member === "function") {
        if (functions.length < MAX_LEFT) functions += `${functions && ", "}${name}`;
        continue;
      }
      countName(encoder, name);
      put(encoder, `${first ? "" : ","}${quote(name)}:`);
      first = false;
      if (member === UNREAD) put(encoder, "[Getter]");
      else write(encoder, member, path + stepTo(name), depth + 1);
    }
    if (functions !== "" && first && depth === 0) refuse(encoder, "", "has functions alone", "Call them.");
    if (functions !== "") note(encoder, path, `is given without its functions: ${functions}.`);
    put(encoder, "}");
  }

  return {
    encode,
    encodeResult,
    encodePrinted,
    errorData,
    // A program's proxy may throw when asked.
    isTooLarge: (error: unknown): error is Error => attempt(() => isInstance(TooLargeError, error), false),
  };
}

export type JsonEncoder = ReturnType<typeof createJsonEncoder>;
