import type { JsonValue } from "@cem/core";
import type { StepField } from "@cem/text";
import { readTokens } from "../../language/lexer.ts";
import { Pattern } from "../../language/pattern.ts";
import { isSmall, Span } from "../../language/token.ts";
import type { Plan } from "../../planning/plan.ts";
import { findCalculated, findReference, sameWords } from "../../planning/references.ts";
import type { Meaning } from "../../planning/reading.ts";
import { cast, type Expression, literal, type ObjectEntry } from "../../program/expression.ts";
import { looked } from "../values.ts";
import { readField, readPointed } from "./documents.ts";
import { lacks } from "./places.ts";
import { FILE_WORDS } from "./words.ts";

/** One field to set. */
export interface Assignment {
  key: string;
  value: Meaning;
  /** Words in brackets behind a value: `4 (completed)`. */
  remark?: string | undefined;
}

const FIELD = "(field|property|key|value|array|list)?";
const JOINED = new Pattern(
  `(new)? (field|property|key|value)? (of)? {key:name} ${FIELD} @joint {value}`,
  FILE_WORDS,
);
const APART = new Pattern(`(new)? (field|property|key)? {key:name} ${FIELD} {value:value}`, FILE_WORDS);
const MAX_PARTS = 40;
const TEXT_KINDS = new Set(["date", "url", "email", "tag", "path"]);
const POINTING =
  /^(?:it|that|this|them|everything|both|all|now|today|result|results|value|answer|output|sum|total|product|average|difference|quotient|count|timestamp)$/u;
const TIME = /^(?:today|now|date|time|timestamp)$/u;
/** Fields that are called after what was calculated. */
const RESULT_KEY = /^(?:result|value|answer|total|sum|output|product|difference|quotient)$/iu;

/** Reads `workflow_id "calc_001", current_step 1 and total: the sum of 2 and 3`: every part of it, or nothing. */
export function readAssignments(span: Span, plan: Plan): Assignment[] | undefined {
  const parts = span.split(({ lower, kind }) => kind !== "quote" && /^(?:[,;]|and)$/u.test(lower));
  if (parts.length === 0 || parts.length > MAX_PARTS) return undefined;
  return readFrom(parts, 0, plan, new Set());
}

/** A value may itself have an "and" or a comma in it: as few parts as possible go to each field. */
function readFrom(
  parts: readonly Span[],
  from: number,
  plan: Plan,
  failed: Set<number>,
): Assignment[] | undefined {
  if (from === parts.length) return [];
  if (failed.has(from)) return undefined;
  for (let to = from + 1; to <= parts.length; to += 1) {
    const [first, last] = [parts[from], parts[to - 1]];
    if (first === undefined || last === undefined) break;
    const found = readAssignment(new Span(first.source, first.all, first.from, last.to), plan);
    const rest = found && readFrom(parts, to, plan, failed);
    if (found !== undefined && rest !== undefined) return [found, ...rest];
  }
  failed.add(from);
  return undefined;
}

/** One field and its value; without a word between them the value has to be a literal. */
export function readAssignment(span: Span, plan: Plan): Assignment | undefined {
  const { bare, remark } = withoutRemark(span);
  for (const match of JOINED.matches(bare)) {
    const value = isKey(match.text("key")) ? readFieldValue(match.span("value"), plan) : undefined;
    if (value !== undefined) return { key: match.text("key"), value, remark };
  }
  const match = APART.match(bare);
  const constant = match?.literal("value");
  if (match === undefined || constant === undefined || !isKey(match.text("key"))) return undefined;
  return { key: match.text("key"), value: constantMeaning(constant.value), remark };
}

function isKey(words: string): boolean {
  return !/^(?:it|that|this|them)$/iu.test(words);
}

/** `4 (completed)`: a remark behind a literal changes no value. It becomes a comment. */
function withoutRemark(span: Span): { bare: Span; remark?: string } {
  const open = span.tokens.findIndex(({ lower }) => lower === "(");
  const inside = span.slice(open + 1, -1);
  if (open < 1 || span.at(-1)?.lower !== ")" || inside.isEmpty) return { bare: span };
  if (!inside.tokens.every(({ kind }) => kind === "word") || span.slice(open - 1, open).literal === undefined)
    return { bare: span };
  return { bare: span.slice(0, open), remark: inside.text };
}

/**
 * What words mean as a field's value: a literal, an earlier result, a calculation, today. A single word that means none of
 * these is text where text may go without quotes; several are nothing.
 */
export function readFieldValue(span: Span, plan: Plan, isTextBare = true): Meaning | undefined {
  const { literal: constant } = span;
  if (constant !== undefined) return constantMeaning(constant.value);
  const [token] = span.tokens;
  const isBareWord = span.length === 1 && token?.kind === "word" && !isSmall(token);
  if (span.trimmed.length === 1 && TEXT_KINDS.has(span.trimmed.at(0)?.kind ?? ""))
    return constantMeaning(span.trimmed.text);
  const calculated = findCalculated(span.text, plan);
  if (calculated !== undefined) return looked(calculated);
  // A file can be no field of itself.
  const whole = findReference(span.text, plan);
  if (whole?.value.document !== undefined && whole.expression === whole.value.expression) return undefined;
  if (!isBareWord || POINTING.test(token.lower))
    return (TIME.test(span.trimmed.lower) ? undefined : readField(span, plan)) ?? readPointed(span, plan);
  const isResult = plan.values.some((value) => !value.document && sameWords(value.words, token.lower));
  if (isResult) return readPointed(span, plan);
  return isTextBare ? constantMeaning(token.text) : undefined;
}

function constantMeaning(constant: JsonValue): Meaning {
  return { schema: {}, words: "value", constant, lower: () => typedLiteral(constant) };
}

/** An empty list needs a type before anything can be added to it. */
export function typedLiteral(value: JsonValue): Expression {
  return Array.isArray(value) && value.length === 0 ? cast(literal(value), "unknown[]") : literal(value);
}

/** Reads the fields that are listed below a step. What is listed is text, unless it says what it is. */
export function readListed(fields: readonly StepField[], step: string, plan: Plan): Assignment[] {
  return fields.map(({ key, value }) => {
    const span = readTokens(value);
    const meant = readFieldValue(span, plan);
    if (meant !== undefined) return { key, value: meant };
    const { bare, remark } = withoutRemark(span);
    if (remark !== undefined)
      return { key, value: constantMeaning(bare.literal?.value ?? bare.text), remark };
    if (/^(?:the (?:sum|total|average|result|number|count|content)s?|its|their|today|both)\b/iu.test(value))
      throw lacks(
        step,
        key,
        `"${value.slice(0, 80)}" means nothing that an earlier step gives. Put text in quotes.`,
      );
    return { key, value: constantMeaning(value) };
  });
}

/** A field's value in the program; a number that a result is bound to be becomes that result. */
export function lowerField({ key, value, remark }: Assignment, plan: Plan): Expression {
  if (remark !== undefined) plan.add({ kind: "comment", text: `${key}: ${remark}` });
  const { constant } = value;
  const same = plan.values.findLast(
    (one) => constant !== undefined && one.constant === constant && one.document === undefined,
  );
  if (same === undefined || !(RESULT_KEY.test(key) || sameWords(same.words, key))) return value.lower();
  same.consumed = true;
  return same.expression;
}

export function toEntry(assignment: Assignment, plan: Plan): ObjectEntry {
  return { key: assignment.key, value: lowerField(assignment, plan) };
}
