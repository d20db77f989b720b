import type { JsonValue } from "@cem/core";

/** A TypeScript expression as data. Text from outside only ever gets in through `literal` and object keys. */
export type Expression =
  | { kind: "literal"; value: JsonValue }
  | { kind: "name"; name: string }
  | { kind: "member"; of: Expression; key: string }
  | { kind: "call"; callee: Expression; args: readonly Expression[] }
  | { kind: "await" | "not" | "spread"; value: Expression }
  | { kind: "arrow"; parameters: readonly string[]; body: Expression }
  | { kind: "binary"; left: Expression; operator: string; right: Expression }
  | { kind: "conditional"; test: Expression; yes: Expression; no: Expression }
  | { kind: "object"; entries: readonly ObjectEntry[] }
  | { kind: "array"; items: readonly Expression[] }
  | { kind: "template"; parts: readonly (string | Expression)[] };

export type ObjectEntry = { key: string; value: Expression } | { spread: Expression };

/** A TypeScript statement as data. */
export type Statement =
  | { kind: "const"; name: string; value: Expression }
  | { kind: "assign"; target: Expression; value: Expression }
  | { kind: "do"; value: Expression }
  | { kind: "comment"; text: string }
  | { kind: "throw"; message: Expression }
  | { kind: "if"; test: Expression; body: Statement[]; otherwise: Statement[] };

/** Imports of a program: module to the names taken from it. */
type Imports = ReadonlyMap<string, ReadonlySet<string>>;

export interface Program {
  imports: Imports;
  /** Whole functions, as text that is this package's own. */
  helpers: readonly string[];
  statements: readonly Statement[];
  value: Expression;
}

export const literal = (value: JsonValue): Expression => ({ kind: "literal", value });
export const name = (text: string): Expression => ({ kind: "name", name: text });
export const member = (of: Expression, key: string): Expression => ({ kind: "member", of, key });
export const awaited = (value: Expression): Expression => ({ kind: "await", value });
export const array = (items: readonly Expression[]): Expression => ({ kind: "array", items });
export const spread = (value: Expression): Expression => ({ kind: "spread", value });
export const not = (value: Expression): Expression => ({ kind: "not", value });

export function call(callee: string, ...args: Expression[]): Expression {
  return { kind: "call", callee: name(callee), args };
}

/** `of.method(...args)` */
export function method(of: Expression, key: string, ...args: Expression[]): Expression {
  return { kind: "call", callee: member(of, key), args };
}

export function arrow(parameters: readonly string[], body: Expression): Expression {
  return { kind: "arrow", parameters, body };
}

export function binary(left: Expression, operator: string, right: Expression): Expression {
  return { kind: "binary", left, operator, right };
}

export function conditional(test: Expression, yes: Expression, no: Expression): Expression {
  return { kind: "conditional", test, yes, no };
}

export function object(entries: Readonly<Record<string, Expression>> | readonly ObjectEntry[]): Expression {
  if (Array.isArray(entries)) return { kind: "object", entries: entries as readonly ObjectEntry[] };
  return { kind: "object", entries: Object.entries(entries).map(([key, value]) => ({ key, value })) };
}

export function template(...parts: (string | Expression)[]): Expression {
  return { kind: "template", parts };
}

/** Every variable that an expression reads. */
export function namesIn(expression: Expression): Set<string> {
  const names = new Set<string>();
  const pending = [expression];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.kind === "name") names.add(part.name);
    pending.push(...childrenOf(part));
  }
  return names;
}

function childrenOf(expression: Expression): Expression[] {
  switch (expression.kind) {
    case "literal":
    case "name":
      return [];
    case "member":
      return [expression.of];
    case "call":
      return [expression.callee, ...expression.args];
    case "await":
    case "not":
    case "spread":
      return [expression.value];
    case "arrow":
      return [expression.body];
    case "binary":
      return [expression.left, expression.right];
    case "conditional":
      return [expression.test, expression.yes, expression.no];
    case "object":
      return expression.entries.map((entry) => ("spread" in entry ? entry.spread : entry.value));
    case "array":
      return [...expression.items];
    case "template":
      return expression.parts.filter((part) => typeof part !== "string");
  }
}

const RESERVED = new Set(
  `abstract any arguments as async await boolean break case catch class const constructor continue debugger declare
  default delete do else enum eval export extends false finally for from function get if implements import in
  infer instanceof interface is keyof let module namespace never new null number object of package private
  protected public readonly require return set static string super switch symbol this throw true try type
  typeof undefined unique unknown using var void while with yield NaN Infinity Array Object String Number
  Boolean Math JSON Promise Date Error Map Set RegExp Symbol Reflect Proxy console process globalThis Deno
  Buffer fetch crypto performance structuredClone name status event top self window document location`
    .split(/\s+/)
    .filter((word) => !["name", "status", "event", "top", "location", "document", "object"].includes(word)),
);

/** Whether a text can stand after a dot or as an object's key. */
export function isIdentifier(text: string): boolean {
  return /^[A-Za-z_$][A-Za-z0-9_$]{0,80}$/u.test(text);
}

/** Words as a variable's name: `active users` to `activeUsers`. Empty when nothing is left of them. */
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

/** Gives out names that are valid and not taken. */
export class Names {
  readonly #taken = new Set<string>();

  /** Keeps a name from being given out. */
  reserve(name: string): void {
    this.#taken.add(name);
  }

  /** A free name made of words, or of the fallback when they hold no letters. */
  take(words: string, fallback: string): string {
    const base = camelCase(words) || camelCase(fallback) || "result";
    const safe = RESERVED.has(base) ? `${base}Value` : base;
    let free = safe;
    for (let count = 2; this.#taken.has(free) || RESERVED.has(free); count += 1) free = `${safe}${count}`;
    this.#taken.add(free);
    return free;
  }
}

/** `cities` to `city`. */
export function singular(word: string): string {
  if (/people$/iu.test(word)) return word.replace(/people$/iu, "person");
  if (/[^aeiou]ies$/iu.test(word)) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|z|ch|sh)es$/iu.test(word)) return word.slice(0, -2);
  return /[^sui]s$/iu.test(word) ? word.slice(0, -1) : word;
}

/** `city` to `cities`. */
export function plural(word: string): string {
  if (singular(word) !== word) return word;
  if (/[^aeiou]y$/iu.test(word)) return `${word.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/iu.test(word) ? `${word}es` : `${word}s`;
}
