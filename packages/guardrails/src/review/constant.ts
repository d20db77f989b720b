/** A value that is known without running the program. */
export type Constant = string | number | boolean | null | undefined | readonly Constant[];

/** The largest value that is followed. See {@link sizeOf}. */
export const MAX_SIZE = 65_536;
/** A larger value is no name of anything. */
export const MAX_SMALL_SIZE = 512;

const TEXT_METHODS = new Set([
  "at",
  "charAt",
  "concat",
  "normalize",
  "padEnd",
  "padStart",
  "repeat",
  "replace",
  "replaceAll",
  "slice",
  "split",
  "substr",
  "substring",
  "toLowerCase",
  "toString",
  "toUpperCase",
  "trim",
  "valueOf",
]);
const LIST_METHODS = new Set(["at", "concat", "flat", "join", "reverse", "slice", "toReversed"]);
const DECODERS: Readonly<Record<string, (text: string) => string>> = {
  atob,
  decodeURI,
  decodeURIComponent,
  unescape: (text) =>
    text.replaceAll(/%u([0-9a-f]{4})|%([0-9a-f]{2})/giu, (_, long?: string, short?: string) =>
      String.fromCharCode(Number.parseInt(long ?? short ?? "0", 16)),
    ),
  String,
};

/** Whether a method puts names together, and is evaluated. */
export function isKnownMethod(name: string): boolean {
  return TEXT_METHODS.has(name) || LIST_METHODS.has(name);
}

/** The evaluated form of a global function of texts; `undefined` for others. */
export function decoderOf(name: string): ((text: string) => string) | undefined {
  return Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
}

const sizes = new WeakMap<readonly Constant[], number>();

/** The size of a value: its characters, and for a list twice what it holds, so that lists in lists are soon too large. */
export function sizeOf(value: Constant): number {
  if (typeof value === "string") return value.length + 1;
  if (!Array.isArray(value)) return 1;
  const list = value as readonly Constant[];
  const known = sizes.get(list);
  if (known !== undefined) return known;
  const size = 2 * list.reduce((sum: number, part) => sum + sizeOf(part), 1);
  sizes.set(list, size);
  return size;
}

/** Whether two values are the same. Large lists are where they are one. */
export function isSame(one: Constant, other: Constant): boolean {
  if (Object.is(one, other)) return true;
  if (!Array.isArray(one) || !Array.isArray(other)) return false;
  if (one.length !== other.length || sizeOf(one) > MAX_SMALL_SIZE) return false;
  return one.every((part: Constant, at) => isSame(part, other[at] as Constant));
}

export function add(left: Constant, right: Constant): Constant {
  if (typeof left === "number" && typeof right === "number") return left + right;
  return `${textOf(left)}${textOf(right)}`;
}

export function unary(operator: string, value: Constant): Constant[] {
  if (operator === "!") return [value === "" || value === 0 || value === false || value == null];
  if (operator === "-" || operator === "+") return [operator === "-" ? -Number(value) : Number(value)];
  return operator === "void" ? [undefined] : [];
}

/** A constant as JavaScript makes it a text. */
export function textOf(value: Constant): string {
  return Array.isArray(value)
    ? value.map((one) => (one == null ? "" : textOf(one as Constant))).join(",")
    : String(value);
}

/** The text of `Buffer.from(text, encoding)`, or the list of `Array.from`. */
export function fromValue(name: string, [value, encoding]: readonly Constant[]): Constant {
  if (name !== "Buffer") {
    if (Array.isArray(value)) return value;
    return typeof value === "string" ? Array.from(value) : undefined;
  }
  if (Array.isArray(value)) return String.fromCharCode(...value.map(Number));
  const coding = encoding === "hex" || encoding === "base64" || encoding === "base64url" ? encoding : "utf8";
  return typeof value === "string" ? Buffer.from(value, coding).toString("utf8") : undefined;
}

/** @throws for a method that is not evaluated, or whose result is too long. */
export function applyMethod(value: Constant, name: string, args: readonly Constant[]): Constant {
  if (sizeOfResult(value, name, args) > MAX_SIZE) throw new RangeError(name);
  if (Array.isArray(value)) {
    if (!LIST_METHODS.has(name)) throw new TypeError(name);
    const copy = [...(value as readonly Constant[])];
    return (copy as unknown as Record<string, (...given: readonly Constant[]) => Constant>)[name]?.(...args);
  }
  if (typeof value === "number" && name === "toString") return value.toString(Number(args[0] ?? 10));
  if (typeof value !== "string" || !TEXT_METHODS.has(name)) throw new TypeError(name);
  const [first, second] = args;
  if (name === "replace" || name === "replaceAll") return value[name](textOf(first), () => textOf(second));
  return (value as unknown as Record<string, (...given: readonly Constant[]) => Constant>)[name]?.(...args);
}

/** How large the result may be, for those methods that make much of little. */
function sizeOfResult(value: Constant, name: string, [first, second]: readonly Constant[]): number {
  const size = sizeOf(value);
  if (name === "repeat") return Number(first) * (size - 1);
  if (name === "padEnd" || name === "padStart") return Number(first);
  if (name === "join") return size * sizeOf(first);
  return name === "replaceAll" ? size + (size * sizeOf(second)) / sizeOf(textOf(first)) : 0;
}
