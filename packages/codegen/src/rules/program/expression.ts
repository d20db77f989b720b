import type { JsonValue } from "@cem/core";

/** A TypeScript expression. Untrusted text only enters it through `literal` and object keys. */
export interface Expression {
  readonly text: string;
  /** Its precedence: it is parenthesized if its context binds more strongly. */
  readonly level: number;
}

export type ObjectEntry = { key: string; value: Expression } | { spread: Expression };

/** A statement as text; for a constant, also its parts, from which a branch makes a conditional expression. */
export interface Statement {
  readonly text: string;
  readonly constant?: { name: string; value: Expression };
}

const LEVELS: Readonly<Record<string, number>> = {
  "===": 8,
  "!==": 8,
  "<": 9,
  "<=": 9,
  ">": 9,
  ">=": 9,
  "+": 11,
  "-": 11,
  "*": 12,
  "/": 12,
  "%": 12,
  "**": 13,
};
const [LOOSE, UNARY, POSTFIX, WHOLE, NAME] = [0, 14, 17, 18, 19];
const textOf = ({ text }: Expression): string => text;
/** Longer objects, lists and arguments have one line per part. */
const MAX_LINE_CHARACTERS = 80;

export const name = (text: string): Expression => ({ text, level: NAME });
export const member = (of: Expression, key: string): Expression => ({
  text: within(of, POSTFIX) + (isIdentifier(key) ? `.${key}` : `[${quote(key)}]`),
  level: WHOLE,
});
export const awaited = (value: Expression): Expression => ({
  text: `await ${within(value, UNARY)}`,
  level: UNARY,
});
export const not = (value: Expression): Expression => ({ text: `!${within(value, UNARY)}`, level: UNARY });
export const spread = ({ text }: Expression): Expression => ({ text: `...${text}`, level: LOOSE });

export function literal(value: JsonValue): Expression {
  const isNegative = typeof value === "number" && (value < 0 || Object.is(value, -0));
  return { text: printJson(value), level: isNegative ? UNARY : WHOLE };
}

export function array(items: readonly Expression[]): Expression {
  return { text: enclosed("[", items.map(textOf), "]"), level: WHOLE };
}

export function call(callee: string, ...args: Expression[]): Expression {
  return { text: callee + printArguments(args), level: WHOLE };
}

export function method(of: Expression, key: string, ...args: Expression[]): Expression {
  return { text: member(of, key).text + printArguments(args), level: WHOLE };
}

export function arrow(parameters: readonly string[], body: Expression): Expression {
  return { text: `(${parameters.join(", ")}) => ${body.text}`, level: LOOSE };
}

export function binary(left: Expression, operator: string, right: Expression): Expression {
  const level = LEVELS[operator] ?? LOOSE;
  const isPower = operator === "**";
  const one = within(left, isPower ? UNARY + 1 : level);
  const other = within(right, isPower ? level : level + 1);
  return { text: `${one} ${operator} ${other}`, level };
}

export function conditional(test: Expression, yes: Expression, no: Expression): Expression {
  const parts = [within(test, 1), `? ${yes.text}`, `: ${no.text}`];
  const line = parts.join(" ");
  return { text: line.length <= MAX_LINE_CHARACTERS ? line : parts.join("\n  "), level: LOOSE };
}

export function object(entries: Readonly<Record<string, Expression>> | readonly ObjectEntry[]): Expression {
  const all = Array.isArray(entries)
    ? (entries as readonly ObjectEntry[])
    : Object.entries(entries).map(([key, value]): ObjectEntry => ({ key, value }));
  return { text: enclosed("{ ", all.map(printEntry), " }"), level: WHOLE };
}

/** A value as text, followed by a line break. */
export function line({ text }: Expression): Expression {
  return { text: `\`\${${text}}\\n\``, level: WHOLE };
}

function within({ text, level }: Expression, surroundings: number): string {
  return level < surroundings ? `(${text})` : text;
}

/** `open` items `close`, on one line or one item per line. Literals contain no line breaks. */
function enclosed(open: string, items: readonly string[], close: string): string {
  if (items.length === 0) return `${open.trim()}${close.trim()}`;
  const inOne = `${open}${items.join(", ")}${close}`;
  if (inOne.length <= MAX_LINE_CHARACTERS && !inOne.includes("\n")) return inOne;
  const lines = items.map((item) => `${indented(item)},\n`);
  return `${open.trim()}\n${lines.join("")}${close.trim()}`;
}

export function indented(text: string): string {
  return text.replaceAll(/^/gmu, "  ");
}

function printArguments(args: readonly Expression[]): string {
  return args.length === 1 ? `(${args[0]?.text ?? ""})` : enclosed("(", args.map(textOf), ")");
}

function printEntry(entry: ObjectEntry): string {
  if ("spread" in entry) return `...(${entry.spread.text})`;
  const { key, value } = entry;
  return value.level === NAME && value.text === key ? key : `${printKey(key)}: ${value.text}`;
}

function printKey(key: string): string {
  if (key === "__proto__") return `[${quote(key)}]`;
  return isIdentifier(key) ? key : quote(key);
}

function printJson(value: JsonValue): string {
  if (typeof value === "string") return quote(value);
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (value === null || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return enclosed("[", value.map(printJson), "]");
  const entries = Object.entries(value).map(([key, item]) => `${printKey(key)}: ${printJson(item)}`);
  return enclosed("{ ", entries, " }");
}

/** Converts any text to a string literal, in which quotes, line breaks and separators are escaped. */
export function quote(text: string): string {
  return JSON.stringify(text)
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029")
    .replace(/[\u007F-\u009F\u061C\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/gu, (mark) => {
      return `\\u${(mark.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
    });
}

function isIdentifier(text: string): boolean {
  return /^[A-Za-z_$][A-Za-z0-9_$]{0,80}$/u.test(text);
}

const RESERVED = new Set(
  `abstract any arguments as async await boolean break case catch class const constructor continue debugger declare
  default delete do else enum eval export extends false finally for from function get if implements import in
  infer instanceof interface is keyof let module namespace never new null number of package private
  protected public readonly require return set static string super switch symbol this throw true try type
  typeof undefined unique unknown using var void while with yield NaN Infinity Array Object String Number
  Boolean Math JSON Promise Date Error Map Set RegExp Symbol Reflect Proxy console process globalThis Deno
  Buffer fetch crypto performance structuredClone self window`.split(/\s+/),
);

/** Converts words to a variable name: `active users` to `activeUsers`. Empty if nothing is left. */
export function camelCase(words: string): string {
  const parts = words.match(/[A-Z]{2,}(?=[A-Z][a-z]|\b|_|\d)|[A-Za-z][a-z]*|\d+/gu) ?? [];
  const joined = parts
    .slice(0, 5)
    .map((part, index) =>
      index === 0 ? part.toLowerCase() : part.charAt(0).toUpperCase() + part.slice(1).toLowerCase(),
    )
    .join("")
    .slice(0, 40);
  return /^\d/u.test(joined) ? `_${joined}` : joined;
}

export function createNames(reserved: readonly string[]) {
  const taken = new Set([...RESERVED, ...reserved]);
  return {
    reserve: (name: string): void => void taken.add(name),
    /** A free name derived from words, or from the fallback if they contain no letters. */
    take(words: string, fallback: string): string {
      const base = camelCase(words) || camelCase(fallback) || "result";
      const safe = RESERVED.has(base) ? `${base}Value` : base;
      let free = safe;
      for (let count = 2; taken.has(free); count += 1) free = `${safe}${count}`;
      taken.add(free);
      return free;
    },
  };
}

export function singular(word: string): string {
  if (/people$/iu.test(word)) return word.replace(/people$/iu, "person");
  if (/[^aeiou]ies$/iu.test(word)) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|z|ch|sh)es$/iu.test(word)) return word.slice(0, -2);
  return /[^sui]s$/iu.test(word) ? word.slice(0, -1) : word;
}

export function plural(word: string): string {
  if (singular(word) !== word) return word;
  if (/[^aeiou]y$/iu.test(word)) return `${word.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/iu.test(word) ? `${word}es` : `${word}s`;
}
