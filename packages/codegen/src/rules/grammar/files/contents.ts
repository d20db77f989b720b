import type { JsonSchema, JsonValue } from "@cem/core";
import { Pattern } from "../../language/pattern.ts";
import type { Span } from "../../language/token.ts";
import type { Plan } from "../../planning/plan.ts";
import { findReference } from "../../planning/references.ts";
import type { Value } from "../../planning/value.ts";
import { hasType } from "../../planning/value.ts";
import { type Expression, literal, method, template } from "../../program/expression.ts";
import { asText } from "../../planning/convert.ts";
import { findDocument, readPointed } from "./documents.ts";
import { matchesOf, PLACE, placeOf, PLACES } from "./places.ts";
import { readText } from "./text-files.ts";
import { FILE_WORDS } from "./words.ts";

/** What words mean as the content of a file. */
export interface Content {
  /** What it may be called. */
  words: string;
  /** What is known of it before it is written into the program. */
  schema: JsonSchema;
  /** The value, where the words are a literal. */
  constant?: JsonValue | undefined;
  /** The earlier result that it is as a whole, where it is one. */
  value?: Value | undefined;
  lower(): { expression: Expression; schema: JsonSchema; words?: string };
}

const TEXT: JsonSchema = { type: "string" };
const CASED: readonly Pattern[] = [
  "{inner} (in|as|to|into) (all)? {case:@case}",
  "{case:@cased} (version|copy)? (of)? {inner}",
].map((text) => new Pattern(text, FILE_WORDS));
const OF_FILE = new Pattern(
  `(whole|full|entire)? (content|contents|text) of ${PLACE} | {place:path}`,
  PLACES,
);
const ITS: readonly Pattern[] = [
  "(its|their|whole|full|entire)? (content|contents|text) (of (it | (that|this)? file))?",
  "(that|this)? file",
  "what (is|was)? (in|inside | (written (in|to))) (it | ((that)? file))",
  "what it (says|contains)",
].map((words) => new Pattern(words));
const PRONOUN = new Pattern("it|this|that|them|these|those");
const BOTH = new Pattern("both (of them)? (results|texts|values|contents|files)?");

/** What words mean as the content of a file: a literal, an earlier result, another file, or what has to be asked for. */
export function readContent(span: Span, plan: Plan): Content | undefined {
  return readKnown(span, plan) ?? readAsked(span, plan);
}

/** Like {@link readContent}, without asking for anything. */
export function readKnown(span: Span, plan: Plan): Content | undefined {
  const { literal: constant } = span;
  if (constant !== undefined) return constantContent(constant.value);
  return (
    readCased(span, plan) ??
    readOtherFile(span, plan) ??
    readNewest(span, plan) ??
    readBoth(span, plan) ??
    readMeant(span, plan)
  );
}

/** A content as the text of a file. */
export function toText(content: Content): Expression {
  const { constant } = content;
  if (constant !== undefined)
    return literal(typeof constant === "string" ? constant : JSON.stringify(constant, null, 2));
  const { expression, schema } = content.lower();
  return asText(expression, schema);
}

/** The text in upper or lower case. */
export function withCase(content: Content, change: string): Content {
  const { words, constant } = content;
  const isText = typeof constant === "string";
  return {
    words,
    schema: TEXT,
    constant: isText
      ? change === "toUpperCase"
        ? constant.toUpperCase()
        : constant.toLowerCase()
      : undefined,
    lower: () => ({ expression: method(toText(content), change), schema: TEXT }),
  };
}

function constantContent(constant: JsonValue): Content {
  const schema = typeof constant === "string" ? TEXT : {};
  return { words: "value", schema, constant, lower: () => ({ expression: literal(constant), schema }) };
}

function readCased(span: Span, plan: Plan): Content | undefined {
  for (const match of matchesOf(CASED, span)) {
    const inner = readContent(match.span("inner"), plan);
    if (inner !== undefined) return withCase(inner, match.meaning("case"));
  }
  return undefined;
}

/** `the content of a.txt`, `a.txt`. */
function readOtherFile(span: Span, plan: Plan): Content | undefined {
  const match = OF_FILE.match(span);
  const path = match && placeOf(match, plan);
  if (path === undefined) return undefined;
  const document = findDocument(plan, path);
  return document === undefined ? fileContent(path, plan) : wholeContent(document.value);
}

function fileContent(path: string, plan: Plan): Content {
  return {
    words: "content",
    schema: TEXT,
    lower() {
      const value = readText(plan, path);
      value.consumed = true;
      return value;
    },
  };
}

/** `it`, `its content`: the file that was read or written last. */
function readNewest(span: Span, plan: Plan): Content | undefined {
  const isContent = ITS.some((pattern) => pattern.match(span) !== undefined);
  if (!isContent && PRONOUN.match(span) === undefined) return undefined;
  const newest = plan.values.findLast((value) => !value.isEffect);
  if (newest?.document !== undefined) return wholeContent(newest);
  if (!isContent) return undefined;
  if (newest !== undefined && hasType(newest.schema, "string")) return wholeContent(newest);
  return plan.lastPath === undefined ? undefined : fileContent(plan.lastPath, plan);
}

/** Results that are written or printed stay results. */
export function keepOpen<Entries>(entries: () => Entries, plan: Plan): Entries {
  const open = plan.values.filter(({ consumed }) => !consumed);
  const made = entries();
  for (const value of open) value.consumed = false;
  return made;
}

/** An earlier result as it is. */
export function wholeContent(value: Value): Content {
  return {
    words: value.words,
    schema: value.schema,
    value,
    lower: () => value,
  };
}

/** `both`, where there are exactly two results, or one list: one below the other. */
function readBoth(span: Span, plan: Plan): Content | undefined {
  if (BOTH.match(span) === undefined) return undefined;
  const results = plan.values.filter(
    ({ isEffect, consumed, document }) =>
      !isEffect && !consumed && (document === undefined || (document.isLoaded && !document.isDirty)),
  );
  const [first, second] = results;
  if (first === undefined || results.length > 2) return undefined;
  if (second === undefined) return hasType(first.schema, "array") ? wholeContent(first) : undefined;
  return {
    words: "both",
    schema: TEXT,
    lower() {
      const texts = [first, second].map((value) => toText(wholeContent(value)));
      const [above = "", below = ""] = texts;
      return { expression: template(above, "\n", below, "\n"), schema: TEXT };
    },
  };
}

/** A calculation, an aggregate, an earlier result, today. */
function readMeant(span: Span, plan: Plan): Content | undefined {
  const meaning = readPointed(span, plan);
  if (meaning === undefined) return undefined;
  const reference = findReference(span.text, plan);
  const isWhole =
    reference?.expression === reference?.value.expression && reference?.value.words === meaning.words;
  return {
    words: meaning.words,
    schema: meaning.schema,
    value: isWhole ? reference?.value : undefined,
    lower: () => ({ expression: keepOpen(() => meaning.lower(), plan), schema: meaning.schema }),
  };
}

/** `the weather of Paris`: what is to be written has to be asked for first. */
function readAsked(span: Span, plan: Plan): Content | undefined {
  if (
    span.trimmed.isEmpty ||
    span.tokens.some(({ kind, lower }) => kind === "quote" || /^[:=]$/u.test(lower))
  )
    return undefined;
  const reading = plan.readAsked(`get ${span.text}`);
  if (reading === undefined) return undefined;
  return {
    words: span.trimmed.text,
    schema: {},
    lower() {
      reading.lower();
      const asked = plan.values.at(-1);
      if (asked === undefined) throw new Error(`Nothing came of "${span.text}".`);
      asked.consumed = true;
      return asked;
    },
  };
}
