import { CemError, isObject, type JsonValue } from "@cem/core";
import { bounded, compileExpression } from "./expression.ts";
import type { DocumentPath, Expression, Readable, Scope } from "./expression.ts";

const OPENING = "${{";
const CLOSING = "}}";
const MAX_TEXT_CHARACTERS = 8 * 1024 * 1024;

type Part = string | Expression;

/** A text with expressions, in parts. Two braces within an expression are written with a space between. */
function partsOf(text: string): Part[] {
  const parts: Part[] = [];
  let rest = text;
  for (let start = rest.indexOf(OPENING); start !== -1; start = rest.indexOf(OPENING)) {
    const end = closingOf(rest, start + OPENING.length);
    if (end === -1) throw new CemError("EXPRESSION_INVALID", `${OPENING} lacks its ${CLOSING}.`);
    if (start > 0) parts.push(rest.slice(0, start));
    parts.push(compileExpression(rest.slice(start + OPENING.length, end)));
    rest = rest.slice(end + CLOSING.length);
  }
  if (rest !== "" || parts.length === 0) parts.push(rest);
  return parts;
}

/** Where an expression ends: braces in quotes don't count. */
function closingOf(text: string, from: number): number {
  let quote: string | undefined;
  for (let index = from; index < text.length; index += 1) {
    const character = text[index];
    if (quote !== undefined) {
      if (character === "\\") index += 1;
      else if (character === quote) quote = undefined;
    } else if (character === '"' || character === "'") quote = character;
    else if (text.startsWith(CLOSING, index)) return index;
  }
  return -1;
}

/** The expression of a text that is one as a whole, with or without `${{ }}` around it. @throws CemError `EXPRESSION_INVALID` */
function wholeExpression(text: string): Expression {
  const parts = text.includes(OPENING) ? partsOf(text.trim()) : [compileExpression(text)];
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && typeof only !== "string") return only;
  throw new CemError("EXPRESSION_INVALID", `${JSON.stringify(text)} has to be one expression.`);
}

/** An expression of a workflow's file, or why it is none. */
export type FoundExpression = { path: DocumentPath } & (
  | { expression: Expression }
  | { error: CemError; expression?: undefined }
);

/** Finds the expressions in a value. `isWhole`: a text is one as a whole, with or without `${{ }}` around it. */
export function expressionsIn(value: JsonValue, path: DocumentPath, isWhole = false): FoundExpression[] {
  if (typeof value === "string") {
    try {
      const parts = isWhole ? [wholeExpression(value)] : partsOf(value);
      return parts.flatMap((part) => (typeof part === "string" ? [] : [{ expression: part, path }]));
    } catch (error) {
      if (!CemError.isInstance(error)) throw error;
      return [{ error, path }];
    }
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    expressionsIn(item, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

/** Evaluates the expressions in a value, with one timeout for all. A text that is a single expression becomes its value. */
export function resolve<Value extends JsonValue>(value: Value, scope: Scope): Value {
  if (!hasExpression(value)) return value;
  const given = readableScope(scope);
  return bounded(() => fill(value, given)) as Value;
}

/** Evaluates one expression. @throws CemError `EXPRESSION_FAILED` */
export function evaluate(text: string, scope: Scope): JsonValue {
  const expression = wholeExpression(text);
  const given = readableScope(scope);
  return bounded(() => toJson(expression.evaluate(given)));
}

/** Cache of scope values as expressions see them: many expressions read the same. */
const readable = new WeakMap<object, unknown>();

/** Makes all keys readable: CEL takes an object with a key `constructor` for one of an unknown class, but handles a `Map`. */
function readableScope(scope: Scope): Readable {
  return Object.fromEntries(
    Object.entries(scope).map(([name, value]) => {
      // Results and errors are added to these during the run.
      if ((name !== "steps" && name !== "errors") || !isObject(value)) return [name, readableValue(value)];
      const entries = Object.entries(value).map(([key, inner]) => [key, readableValue(inner)] as const);
      const isPlain =
        !Object.hasOwn(value, "constructor") && entries.every(([key, inner]) => inner === value[key]);
      return [name, isPlain ? value : new Map(entries)];
    }),
  );
}

function readableValue(value: JsonValue): unknown {
  if (typeof value !== "object" || value === null) return value;
  let found = readable.get(value);
  if (found === undefined) {
    const text = JSON.stringify(value);
    found = text.includes('"constructor":') ? JSON.parse(text, toMap) : value;
    readable.set(value, found);
  }
  return found;
}

function toMap(_: string, value: unknown): unknown {
  return isObject(value) ? new Map(Object.entries(value)) : value;
}

function hasExpression(value: JsonValue): boolean {
  if (typeof value === "string") return value.includes(OPENING);
  return typeof value === "object" && value !== null && Object.values(value).some(hasExpression);
}

function fill(value: JsonValue, scope: Readable): JsonValue {
  if (typeof value === "string") return fillText(value, scope);
  if (Array.isArray(value)) return value.map((item) => fill(item, scope));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries<JsonValue>(Object.entries(value).map(([key, item]) => [key, fill(item, scope)]));
}

function fillText(text: string, scope: Readable): JsonValue {
  if (!text.includes(OPENING)) return text;
  const parts = partsOf(text);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && typeof only !== "string")
    return toJson(only.evaluate(scope));
  let filled = "";
  for (const part of parts) {
    const value = typeof part === "string" ? part : toJson(part.evaluate(scope));
    filled += typeof value === "string" ? value : JSON.stringify(value);
    if (filled.length > MAX_TEXT_CHARACTERS)
      throw new CemError("EXPRESSION_FAILED", `A text has more than ${MAX_TEXT_CHARACTERS} characters.`);
  }
  return filled;
}

/** Converts a value to JSON: integers of expressions are BigInts. @throws CemError `EXPRESSION_FAILED` if JSON can't hold it. */
function toJson(value: unknown): JsonValue {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, (_, item: unknown) => plainOf(item));
  } catch (error) {
    if (error instanceof RangeError) throw notJson("a value that is nested too deeply");
    throw error;
  }
  if (text === undefined) throw notJson("nothing");
  return JSON.parse(text) as JsonValue;
}

function plainOf(item: unknown): unknown {
  if (typeof item === "bigint") {
    if (Number.isSafeInteger(Number(item))) return Number(item);
    throw notJson(`the whole number ${item}, which JSON can't hold exactly`);
  }
  if (typeof item === "number" && !Number.isFinite(item)) throw notJson(`the number ${item}`);
  if (item instanceof Map) return Object.fromEntries(item);
  if (item === null || ["string", "number", "boolean"].includes(typeof item)) return item;
  if (Array.isArray(item) || (typeof item === "object" && isPlain(item))) return item;
  throw notJson("a value of a type that JSON lacks; turn it into a text with string()");
}

function isPlain(item: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(item);
  return prototype === Object.prototype || prototype === null;
}

function notJson(what: string): CemError {
  return new CemError("EXPRESSION_FAILED", `An expression came to ${what}.`);
}
