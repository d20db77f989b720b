import { Pattern } from "../../language/pattern.ts";
import { readTokens } from "../../language/lexer.ts";
import { Span } from "../../language/token.ts";
import type { Plan } from "../../planning/plan.ts";
import { literal, method, type ObjectEntry } from "../../program/expression.ts";
import { type Content, readContent } from "./contents.ts";
import { readFieldValue } from "./fields.ts";
import { lacks } from "./places.ts";

type Read = (span: Span, plan: Plan) => Content | undefined;

const METADATA = new Pattern("(its|their)? metadata");
const ALL = new Pattern(
  "everything | results | ((both|all) (of)? (them|these|those)? (results|values|answers)?)",
);
const PRONOUN = new Pattern("it|this|that|them|these|those");
const FORMULA = /^(?:expression|calculation|formula|operation)$/iu;
const MAX_PARTS = 20;

export function isPronoun(span: Span): boolean {
  return PRONOUN.match(span) !== undefined;
}

/** `both results`, `everything`: every result that is still open, under its name. */
export function readAll(span: Span, plan: Plan): (() => ObjectEntry[]) | undefined {
  if (ALL.match(span) === undefined) return undefined;
  const results = plan.values.filter(
    ({ isEffect, consumed, document }) => !isEffect && !consumed && document === undefined,
  );
  if (results.length < 2 || (span.words.includes("both") && results.length > 2)) return undefined;
  return () =>
    results.map((value) => {
      value.consumed = true;
      return { key: value.name, value: value.expression };
    });
}

/** `the sum and the weather`, `the result and metadata`: each under its name. */
export function readParts(
  span: Span,
  plan: Plan,
  read: Read = readContent,
): (() => ObjectEntry[]) | undefined {
  const parts = span.list;
  const contents = parts.length > MAX_PARTS ? undefined : readFrom(parts.filter(isNoMetadata), 0, plan, read);
  const [only] = contents ?? [];
  if (contents === undefined || only === undefined) return undefined;
  if (contents.length === parts.length) return () => contents.map((content) => toEntry(content));
  const formula = contents.length === 1 ? only.value?.formula : undefined;
  return () => {
    const saved = contents.map((content) => toEntry(content, contents.length === 1 ? "result" : undefined));
    const time = method({ kind: "new", callee: "Date", args: [] }, "toISOString");
    const calculation = formula === undefined ? [] : [{ key: "calculation", value: literal(formula) }];
    return [...calculation, ...saved, { key: "saved_at", value: time }];
  };
}

function isNoMetadata(part: Span): boolean {
  return METADATA.match(part) === undefined;
}

/** A part may have an "and" in it: as few of them as possible go to each. */
function readFrom(parts: readonly Span[], from: number, plan: Plan, read: Read): Content[] | undefined {
  if (from === parts.length) return [];
  for (let to = from + 1; to <= parts.length; to += 1) {
    const [first, last] = [parts[from], parts[to - 1]];
    if (first === undefined || last === undefined) break;
    const content = read(new Span(first.source, first.all, first.from, last.to), plan);
    if (content === undefined || content.constant !== undefined) continue;
    const rest = readFrom(parts, to, plan, read);
    return rest && [content, ...rest];
  }
  return undefined;
}

function toEntry(content: Content, key?: string): ObjectEntry {
  const { expression, words = content.words } = content.lower();
  if (content.value !== undefined) content.value.consumed = true;
  return { key: key ?? words.trim().replaceAll(/\s+/gu, "_"), value: expression };
}

/** `expression, result`: fields by name, each an earlier result or the formula of one. */
export function readKeys(span: Span, path: string, step: string, plan: Plan): () => ObjectEntry[] {
  const keys = span.list.map((part) => {
    const quoted = part.literal?.value;
    return typeof quoted === "string" ? quoted : part.text;
  });
  const formula = plan.values.findLast((value) => value.formula !== undefined)?.formula;
  const values = keys.map((key) => {
    if (FORMULA.test(key) && formula !== undefined) return { lower: () => literal(formula) };
    const value = readFieldValue(readTokens(`the ${key}`), plan);
    if (value !== undefined) return value;
    const hint = `Say what to save as "${key.slice(0, 80)}" in ${path}: a value, or an earlier result.`;
    throw lacks(step, key, hint);
  });
  return () => values.map((value, at) => ({ key: keys[at] ?? "", value: value.lower() }));
}
