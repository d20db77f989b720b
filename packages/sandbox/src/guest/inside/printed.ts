import type { ErrorReader } from "./error-members.ts";
import type { JsonEncoder } from "./json.ts";
import type { Primordials } from "./primordials.ts";

/** Formats a value that a program prints: as compact JSON, which is complete and easy for a model to read. */
export type Printer = (value: unknown) => string;

/** @param inspect - Formats the runtime's own objects, which the runtime prints better. */
export function createPrinter(
  primordials: Primordials,
  json: JsonEncoder,
  errors: ErrorReader,
  inspect?: (value: unknown, options?: object) => string,
): Printer {
  const { apply, execPattern, getPrototypeOf, has, isArray, isFiniteNumber, isInstance } = primordials;
  const { isNativeError, keys, ownProperty, quote, sliceText, stringify, symbols, timeOf, toText } =
    primordials;
  const MAX_CHARACTERS = 64 * 1024;
  /** Characters to show of an object with a longer text. */
  const SHOWN_CHARACTERS = 8 * 1024;
  const MAX_NAMED_KEYS = 30;
  const MAX_NAME_CHARACTERS = 80;
  const MAX_SHOWN_BYTES = 32;
  const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
  /** Long enough not to be a word or a digest. */
  const BASE64 =
    /^(?:data:([\w.+/-]{0,100})[^,]{0,100};base64,)?(?=[^,]*[a-z])(?=[^,]*[A-Z])(?=[^,]*\d)[\w+/-]{256,}={0,2}$/;
  const patternText = RegExp.prototype.toString;
  const DateConstructor = Date;
  const objectRoot = Object.prototype;
  const IN_ONE_LINE = { __proto__: null, compact: true, breakLength: Infinity, depth: 3 };
  const MAX_CAUSES = 8;
  const printing = {
    __proto__: null as never,
    string: (text: string) => quote(withoutBase64(text)),
    primitive: primitiveText,
    named: namedText,
    className: classOf,
    maxShownBytes: MAX_SHOWN_BYTES,
  };

  function primitiveText(value: unknown): string {
    if (typeof value === "bigint") return `${value}n`;
    if (value === 0 && 1 / value < 0) return "-0";
    return typeof value === "function" ? `[Function: ${nameOf(value) || "(anonymous)"}]` : toText(value);
  }

  function namedText(value: object): string | undefined {
    if (isNativeError(value)) return namedError(value);
    if (isInstance(primordials.RegExpConstructor, value)) return apply(patternText, value, []) as string;
    return isPrintedByRuntime(value) ? byRuntime(value) : undefined;
  }

  /** Whether the runtime prints an object: a built-in, one with its own printer, or one with more than its members. */
  function isPrintedByRuntime(value: object): boolean {
    for (let index = 0; index < symbols.printers.length; index += 1)
      if (has(value, symbols.printers[index] as symbol)) return true;
    if (isInstance(primordials.PromiseConstructor, value)) return true;
    const prototype = getPrototypeOf(value);
    if (prototype === null || prototype === objectRoot) return false;
    return has(value, symbols.toStringTag) || keys(value).length === 0;
  }

  /** Formats an object that is more than its members; by its name only when there is no runtime. */
  function byRuntime(value: object): string {
    if (inspect !== undefined) return inspect(value, IN_ONE_LINE);
    const { [symbols.toStringTag]: tag } = value as { [symbols.toStringTag]?: unknown };
    const name = typeof tag === "string" ? tag : classOf(value);
    return keys(value).length === 0 && typeof tag !== "string"
      ? `${name || "Object"} {}`
      : `[${name || "Object"}]`;
  }

  function withoutBase64(text: string): string {
    const found = text.length < MAX_SHOWN_BYTES ? null : execPattern(BASE64, text);
    if (found === null) return text;
    return `[${found[1] === undefined ? "" : `${found[1]} as `}base64: ${text.length} characters]`;
  }

  function nameOf(value: object): string {
    const name = ownProperty(value, "name")?.value as unknown;
    return typeof name === "string" ? sliceText(name, 0, MAX_NAME_CHARACTERS) : "";
  }

  function classOf(value: object): string {
    const prototype = getPrototypeOf(value);
    if (prototype === null || prototype === objectRoot) return "";
    const { constructor } = value as { constructor?: unknown };
    return typeof constructor === "function" ? nameOf(constructor) : "";
  }

  /** Formats an error inside another value, with what it has as data besides its message. */
  function namedError(error: object): string {
    const { name: _, message: __, ...more } = json.errorData(error);
    return `[${toText(error)}]${keys(more).length === 0 ? "" : ` ${stringify(more)}`}`;
  }

  /** Formats an error with its stack, its own members, the errors that it stands for, and its cause. */
  function errorText(error: unknown, depth: number): string {
    if (!isNativeError(error)) return typeof error === "string" ? error : print(error);
    const { stack, cause } = error as Error;
    let text = typeof stack === "string" && stack !== "" ? stack : toText(error);
    const members = errors.membersOf(error as object);
    if (members !== undefined) text += ` ${print(members)}`;
    if (depth > MAX_CAUSES) return text;
    const collected = errors.collectedBy(error as object);
    const left = collected.count - collected.errors.length;
    for (let index = 0; index < collected.errors.length; index += 1)
      text += `\n- ${errorText(collected.errors[index], MAX_CAUSES + 1)}`;
    if (left > 0) text += `\n- and ${left} more`;
    return cause === undefined ? text : `${text}\nCaused by ${errorText(cause, depth + 1)}`;
  }

  function print(value: unknown): string {
    try {
      if ((typeof value !== "object" && typeof value !== "function") || value === null)
        return json.encodePrinted(value, MAX_CHARACTERS, printing).text;
      if (isNativeError(value)) return errorText(value, 0);
      if (isInstance(DateConstructor, value) && !isFiniteNumber(timeOf(value))) return "Invalid Date";
      const { toJSON } = value as { toJSON?: unknown };
      if (typeof toJSON === "function") {
        const told = apply(toJSON, value, [""]);
        if (typeof told === "string") return told;
      }
      const { text, isCut } = json.encodePrinted(value, MAX_CHARACTERS, printing);
      return isCut ? beginning(text, value) : text;
    } catch {
      return inspect === undefined ? "[Object]" : inspect(value);
    }
  }

  /** The beginning of a long text, and the size of the rest. The redactor knows the note: see `CUT` of `@cem/pii`. */
  function beginning(text: string, value: object): string {
    const isList = isArray(value);
    const names = isList ? [] : keys(value);
    const parts = isList ? `${value.length} items` : keysText(names);
    const part = isList ? "list.slice(0, 10)" : "value.key";
    return `${sliceText(text, 0, SHOWN_CHARACTERS)} [Only the first ${SHOWN_CHARACTERS} characters are shown of more than ${MAX_CHARACTERS}. It has ${parts}. Print a part (${part}), or return it: a long result is kept whole.]`;
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
