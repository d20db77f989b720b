import { COMPARATORS, EQUALITIES } from "@cem/text";
import type { JsonSchema, JsonValue } from "@cem/core";
import { Pattern } from "../../language/pattern.ts";
import type { Span } from "../../language/token.ts";
import { onlyCalled } from "../../planning/called.ts";
import type { Plan } from "../../planning/plan.ts";
import { findProperty, findReference, meaningsOf, type Reference } from "../../planning/references.ts";
import type { Meaning } from "../../planning/reading.ts";
import { hasType, isNumeric, propertiesOf, type Value } from "../../planning/value.ts";
import { binary, call, type Expression, literal, member, method, not } from "../../program/expression.ts";
import { useHelper } from "../../program/helpers.ts";
import { readAggregate, readNumbers } from "../rows/aggregate.ts";
import { meaningOf } from "../arithmetic/arithmetic.ts";
import { operand } from "../arithmetic/read-arithmetic.ts";
import { looked } from "../values.ts";

/** The most words and signs of a condition. */
const MAX_TOKENS = 60;
const BOOLEAN: JsonSchema = { type: "boolean" };
const LOW = /^(?:younger|cheaper|colder|cooler|lighter|shorter|slower|smaller|lower|fewer|less)$/u;

const BETWEEN = new Pattern("{subject} (is|are) between {low:number} and {high:number} @unit?", units());
const VERB = "(is|are|was|were|gets|goes|falls|drops|rises|reaches)";
const COMPARED: readonly Pattern[] = [
  `{subject}? ${VERB}? {comparator:@order} {value} @unit?`,
  `{subject}? ${VERB}? {comparator:@equality} {value} @unit?`,
  "{subject}? (is|are|was|were) {comparator:@not} {value} @unit?",
  "{subject}? (is|are|was|were) {value} @unit?",
].map(
  (text) => new Pattern(text, { ...units(), order: COMPARATORS, equality: EQUALITIES, not: { not: "!==" } }),
);
const COMPARATIVE = new Pattern("{subject}? (is|are|was) {word:word} than {value:number} @unit?", units());
const MORE = new Pattern("{subject}? (is|are|was) {degree:@degree} {word:word} than {value:number} @unit?", {
  ...units(),
  degree: { more: ">", less: "<" },
});
const KIND = new Pattern("{subject} is? {kind:@kind} number?", {
  kind: Object.fromEntries(["even", "odd", "positive", "negative", "zero"].map((word) => [word, word])),
});
const EMPTY = new Pattern("{what} (is|are) {not:@not}? empty", { not: { not: "not" } });
const THERE = new Pattern("there (is|are) {how:@how} {what}?", {
  how: { any: ">", some: ">", "at least one": ">", "at least 1": ">", no: "===", none: "===" },
});
const THERE_ARE = new Pattern("there (is|are) {comparator:@comparator} {count:number} {what}?", {
  comparator: COMPARATORS,
});
const SAYS = new Pattern("(it | weather | that | condition) (is|are|was) {not:@not}? {word:word}", {
  not: { not: "not" },
});

function units() {
  const words =
    "° %|percent|celsius|fahrenheit|degrees|degree|c|f|dollars|euros|years|° c|° f|degrees celsius|degrees fahrenheit|years old";
  return { unit: Object.fromEntries([...words.split("|"), "°", "%"].map((word) => [word, word])) };
}

/** Reads `temperature is above 20` about earlier results, as a whole or not at all. */
export function readTest(span: Span, plan: Plan): Meaning | undefined {
  if (span.length > MAX_TOKENS) return undefined;
  return readSingle(span.trimmed, plan) ?? readJoined(span.trimmed, plan);
}

/** `it is above 5 and below 20`. */
function readJoined(span: Span, plan: Plan): Meaning | undefined {
  for (let at = 1; at + 1 < span.length; at += 1) {
    const joint = span.at(at)?.lower;
    if (joint !== "and" && joint !== "or") continue;
    const left = readSingle(span.slice(0, at).trimmed, plan);
    const right = left && readTest(span.slice(at + 1), plan);
    if (left === undefined || right === undefined) continue;
    return test(() => binary(left.lower(), joint === "and" ? "&&" : "||", right.lower()));
  }
  return undefined;
}

function readSingle(span: Span, plan: Plan): Meaning | undefined {
  return (
    readBetween(span, plan) ??
    readComparative(span, plan) ??
    readKind(span, plan) ??
    readState(span, plan) ??
    readCompared(span, plan) ??
    readSaid(span, plan)
  );
}

function test(lower: () => Expression, constant?: boolean): Meaning {
  return { schema: BOOLEAN, words: "answer", lower, constant };
}

/** What a comparison gives, where both sides are known before the program runs. */
function holds(
  left: JsonValue | undefined,
  operator: string,
  right: JsonValue | undefined,
): boolean | undefined {
  if (typeof left !== "number" || typeof right !== "number") return undefined;
  switch (operator) {
    case ">":
      return left > right;
    case ">=":
      return left >= right;
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    default:
      return (left === right) === (operator === "===");
  }
}

function readBetween(span: Span, plan: Plan): Meaning | undefined {
  const match = BETWEEN.match(span);
  const [low, high] = [match?.number("low"), match?.number("high")];
  const subject = match && readSubject(match.span("subject"), plan, true);
  if (subject === undefined || low === undefined || high === undefined) return undefined;
  return test(() => {
    const value = subject.lower();
    return binary(binary(value, ">=", literal(low)), "&&", binary(value, "<=", literal(high)));
  });
}

/** `it is warmer than 15`, `the laptop is more expensive than 900`. */
function readComparative(span: Span, plan: Plan): Meaning | undefined {
  for (const pattern of [COMPARATIVE, MORE]) {
    for (const match of pattern.matches(span)) {
      const word = match.text("word").toLowerCase();
      const value = match.number("value");
      const subject = match.span("subject");
      const isBare = subject.isEmpty || /^(?:it|that|there|weather)$/u.test(subject.trimmed.lower);
      const property = meaningsOf(word)
        .map((meaning) =>
          findProperty(isBare ? meaning : `${meaning} of ${subject.trimmed.text}`, plan, "number"),
        )
        .find((one) => one !== undefined);
      if (property === undefined || value === undefined) continue;
      const operator = match.meaning("degree") || (LOW.test(word) ? "<" : ">");
      return test(() => binary(looked(property).lower(), operator, literal(value)));
    }
  }
  return undefined;
}

function readCompared(span: Span, plan: Plan): Meaning | undefined {
  for (const pattern of COMPARED) {
    for (const match of pattern.matches(span)) {
      const operator = match.meaning("comparator") || "===";
      const found = compare(
        match.span("subject"),
        operator,
        match.span("value").trimmed,
        plan,
        match.meaning("unit"),
      );
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function compare(
  subjectSpan: Span,
  operator: string,
  value: Span,
  plan: Plan,
  unit: string,
): Meaning | undefined {
  const constant = value.literal?.value;
  const isOrder = operator !== "===" && operator !== "!==";
  const subject = readSubject(subjectSpan, plan, isOrder || typeof constant === "number", unit);
  if (subject === undefined) return undefined;
  if (typeof constant === "number") {
    const isNumber = isNumeric(subject.schema) || Object.keys(subject.schema).length === 0;
    const known = holds(subject.constant, operator, constant);
    return isNumber ? test(() => binary(subject.lower(), operator, literal(constant)), known) : undefined;
  }
  if (isOrder) {
    const other = readSubject(value, plan, true);
    if (other === undefined) return undefined;
    const known = holds(subject.constant, operator, other.constant);
    return test(() => binary(subject.lower(), operator, other.lower()), known);
  }
  if (typeof constant === "boolean" || constant === null)
    return test(() => binary(subject.lower(), operator, literal(constant)));
  const text =
    typeof constant === "string"
      ? constant
      : value.length === 1 && value.at(0)?.kind === "word"
        ? value.text
        : undefined;
  const other = text === undefined ? readSubject(value, plan, false) : undefined;
  if (hasType(subject.schema, "object", "array") || (text === undefined && other === undefined))
    return undefined;
  return test(() => {
    const same = call(useHelper("equals"), subject.lower(), other?.lower() ?? literal(text ?? ""));
    return operator === "===" ? same : not(same);
  });
}

/** A number of the text, a calculation, or an earlier result or a part of it. */
function readSubject(span: Span, plan: Plan, wantsNumber: boolean, unit = ""): Meaning | undefined {
  const wanted = wantsNumber ? "number" : "any";
  const said = span.isEmpty ? "it" : span.trimmed.text;
  const text = DEGREES.test(unit) && /^(?:it|that|there)$/iu.test(said) ? "temperature" : said;
  const calculated = span.isEmpty ? undefined : operand(span, plan);
  if (calculated !== undefined && calculated.kind !== "reference") return number(meaningOf(calculated));
  // `the sum` of what a file holds, rather than a field of that name that it may not have.
  const isField = span.isEmpty || /^(?:the )?(?:count|total)$/u.test(span.lower);
  const called = onlyCalled(said, plan);
  if (called !== undefined)
    return looked({ value: called, expression: called.expression, schema: called.schema }, wantsNumber);
  const aggregate = isField ? undefined : readNumbers(span.trimmed, plan);
  if (aggregate !== undefined) return aggregate;
  const property = findProperty(text, plan, wanted) ?? findReference(text, plan, wanted);
  return property === undefined ? readAggregate(span, plan) : looked(property, wantsNumber);
}

const DEGREES = /°|degree|celsius|fahrenheit/u;

/** TypeScript takes `7 > 5` for a mistake: a number of the text stands as one that is not known to it. */
function number(meaning: Meaning): Meaning {
  return meaning.constant === undefined
    ? meaning
    : { ...meaning, lower: () => call("Number", meaning.lower()) };
}

function readKind(span: Span, plan: Plan): Meaning | undefined {
  const match = KIND.match(span);
  const subject = match && readSubject(match.span("subject"), plan, true);
  if (subject === undefined) return undefined;
  const kind = match?.meaning("kind") ?? "";
  return test(() => {
    const value = subject.lower();
    if (kind === "even" || kind === "odd")
      return binary(binary(value, "%", literal(2)), kind === "even" ? "===" : "!==", literal(0));
    return binary(value, kind === "zero" ? "===" : kind === "positive" ? ">" : "<", literal(0));
  });
}

/** `there are any results`, `the list is empty`. */
function readState(span: Span, plan: Plan): Meaning | undefined {
  const empty = EMPTY.match(span);
  const there = THERE.match(span);
  const many = THERE_ARE.match(span);
  const list = listOf((empty ?? there ?? many)?.span("what"), plan);
  if (list === undefined) return undefined;
  const length = member(list.expression, "length");
  if (empty !== undefined) return test(() => binary(length, empty.has("not") ? ">" : "===", literal(0)));
  if (there !== undefined) return test(() => binary(length, there.meaning("how"), literal(0)));
  const count = many?.number("count");
  return count === undefined
    ? undefined
    : test(() => binary(length, many?.meaning("comparator") ?? "===", literal(count)));
}

/** The newest list, where words mean it or any list. */
function listOf(span: Span | undefined, plan: Plan): Value | undefined {
  if (span === undefined) return undefined;
  const lists = plan.values.filter((value) => hasType(value.schema, "array"));
  if (span.isEmpty || /^(?:it|list|results?|items?|entries|rows|of them|left)$/u.test(span.trimmed.lower))
    return lists.at(-1);
  const meant = findReference(span.trimmed.text, plan)?.value;
  return lists.find((value) => value === meant);
}

/** `it is sunny`: the text that tells the state of the newest result says so. */
function readSaid(span: Span, plan: Plan): Meaning | undefined {
  const match = SAYS.match(span);
  const source = plan.values.findLast((one) => hasType(one.schema, "object"));
  const key =
    source &&
    propertiesOf(source.schema).find(
      ([name, schema]) =>
        hasType(schema, "string") && /condition|status|state|description|summary/iu.test(name),
    )?.[0];
  if (match === undefined || source === undefined || key === undefined) return undefined;
  const root = match
    .text("word")
    .toLowerCase()
    .replace(/^(rain|snow|cloud|sunn|wind|fogg)(?:y|ing)$/u, "$1");
  const reference: Reference = { value: source, expression: member(source.expression, key), schema: {} };
  return test(() => {
    const includes = method(method(reference.expression, "toLowerCase"), "includes", literal(root));
    return match.has("not") ? not(includes) : includes;
  });
}
