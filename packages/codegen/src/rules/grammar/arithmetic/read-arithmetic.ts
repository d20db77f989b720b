import { readableNumber } from "@cem/text";
import { Pattern, type Match } from "../../language/pattern.ts";
import type { Span } from "../../language/token.ts";
import { type Plan, Unfilled } from "../../planning/plan.ts";
import { type Arithmetic, evaluate, number, type Operator, operation, type Rounding } from "./arithmetic.ts";
import { isNumeric } from "../../planning/value.ts";
import { findReference } from "../../planning/references.ts";
import { readExpression } from "./read-expression.ts";

const MAX_LISTED = 500;

const LEAD = new Pattern(
  "(calculate|compute|evaluate|solve|find|determine|get|give|tell|do|run|simplify|return | work out | figure out | what (is|are) | how much (is|are))? :? ((result|value|answer|outcome|expression|calculation) (of|to|for|:)? )? {sum:rest}",
);
const EQUALS = new Pattern("{sum} (=|==|equals) (what | {stated:number})?");
const ROUNDED: readonly Pattern[] = [
  "round {what} (to | to nearest | at) {digits:number} (decimals|decimal|digits|digit|places|place | decimal places | decimal place | digits after comma)",
  "round {what} (to nearest? (integer | whole number))?",
  "{what} rounded (to | at) {digits:number} (decimals|decimal|digits|digit|places|place | decimal places | decimal place)",
  "{what} rounded (to nearest? (integer | whole number))?",
  "round (to | at) {digits:number} (decimals|decimal|digits|digit|places|place | decimal places | decimal place)",
  "round to nearest? (integer | whole number)",
  "round {way:@way} {what} to nearest? (integer | whole number)?",
  "round {what} {way:@way} (to nearest? (integer | whole number))?",
].map((text) => new Pattern(text, { way: { up: "ceil", down: "floor", off: "round" } }));

/** Degrees, in signs and words. */
const CLASSES = {
  two: { both: "2", "both of": "2" },
  celsius: { celsius: "c", c: "c", "degrees celsius": "c", "° c": "c", "degrees c": "c" },
  fahrenheit: { fahrenheit: "f", f: "f", "degrees fahrenheit": "f", "° f": "f", "degrees f": "f" },
};

/** `both results`: the numbers that the steps before gave. */
const ALL =
  "(all|these|those|them)? {two:@two}? (all|of|these|those)? (results|numbers|values|answers|them | {two:@two})";

/** `the numbers from 1 to 100`: whole ones, both ends too. */
const RANGE =
  "all? (whole|natural)? (numbers|integers|number) (from|between)? {first:number} (to|and|through | up to) {last:number} inclusive?";

type Read = (match: Match, plan: Plan) => Arithmetic | undefined;

const FORM_TEXTS: readonly (readonly [text: string, read: Read])[] = [
  [`(sum|total|add) up? of? ${RANGE}`, range],
  [
    `(average|mean) of? ${RANGE}`,
    (match) => spread(match, (first, last) => operation("/", operation("+", first, last), number(2))),
  ],
  ["(sum|total) of {list}", listed("+")],
  ["product of {list}", listed("*")],
  ["(difference|gap) (between|of) {a} and {b}", pair("-")],
  ["quotient of {a} and {b}", pair("/")],
  ["(average|mean) of {list}", (match, plan) => average(operands(match.span("list"), plan))],
  ["remainder of {a} divided by {b}", pair("%")],
  ["square of {a} | square {a}", scaled("**", 2)],
  ["cube of {a} | cube {a}", scaled("**", 3)],
  ["double {a} | twice {a}", scaled("*", 2)],
  ["triple {a}", scaled("*", 3)],
  ["quadruple {a}", scaled("*", 4)],
  ["halve {a} | half of? {a}", scaled("/", 2)],
  ["what (percent|percentage) of {b} is {a} | {a} as (percent|percentage) of {b}", share],
  ["(increase|raise|grow) {a} by {percent:number} (%|percent)", changed("+")],
  ["(decrease|reduce|lower|discount) {a} by {percent:number} (%|percent)", changed("-")],
  ["(increase|increment|raise) {a} by {b}", pair("+")],
  ["(decrease|decrement|reduce) {a} by {b}", pair("-")],
  ["add up? {b} to {a}", pair("+")],
  ["(subtract|take|deduct) {b} away? from {a}", pair("-")],
  ["multiply {a} (by|with|and|times) {b}", pair("*")],
  ["divide {a} by {b}", pair("/")],
  [`(add|sum|combine) (up|together)? ${ALL} (together|up)?`, all("+")],
  [`multiply (up|together)? ${ALL} (together|up)?`, all("*")],
  [`subtract ${ALL}`, all("-")],
  [`(average|mean) (of ${ALL})? | average ${ALL}`, (match, plan) => average(results(plan, match.has("two")))],
  [`(sum|total) of ${ALL}`, all("+")],
  [`product of ${ALL}`, all("*")],
  [`(difference|gap) (between|of) ${ALL}`, all("-")],
  ["(add|sum) (up|together)? {list} (together|up)?", added],
  ["(subtract|deduct|minus) {b}", withIt("-")],
  ["multiply by? {b}", withIt("*")],
  ["divide by {b}", withIt("/")],
  [
    "convert? {a} @celsius (to|into|in) degrees? fahrenheit",
    (match, plan) => toFahrenheit(operand(match.span("a"), plan)),
  ],
  [
    "convert? {a} @fahrenheit (to|into|in) degrees? celsius",
    (match, plan) => toCelsius(operand(match.span("a"), plan)),
  ],
  [
    "convert? {a} @celsius (to|into|in) kelvin",
    (match, plan) => plus(operand(match.span("a"), plan), 273.15),
  ],
];
const FORMS = FORM_TEXTS.map(([text, read]) => [new Pattern(text, CLASSES), read] as const);

/** Reads what a span asks to calculate; as a whole or not at all. Results that it names have to be there. */
export function readArithmetic(span: Span, plan: Plan): Arithmetic | undefined {
  const { trimmed } = span;
  for (const lead of LEAD.matches(trimmed)) {
    const found = readPlain(lead.span("sum").trimmed, plan);
    if (found !== undefined) return found;
  }
  return undefined;
}

function readPlain(span: Span, plan: Plan): Arithmetic | undefined {
  const equals = EQUALS.match(span);
  const sum = equals?.span("sum").trimmed ?? span;
  const found =
    readRounded(sum, plan) ?? readForm(sum, plan) ?? readExpression(sum, plan) ?? readExplained(sum, plan);
  const stated = equals?.number("stated");
  if (found === undefined || stated === undefined) return found;
  const value = evaluate(found);
  if (value === undefined) return undefined;
  if (readableNumber(value) === readableNumber(stated)) return found;
  throw new Unfilled({
    step: span.text,
    reason: "missing-argument",
    argument: String(stated),
    hint: `${sum.text} is ${readableNumber(value)}, not ${stated}. Leave one of them out.`,
  });
}

const EXPLAINED = new Pattern("(next|new|following)? (step|value|result|number|total|count)");

/** `the next step (result + 1)`: what is meant stands in brackets. */
function readExplained(span: Span, plan: Plan): Arithmetic | undefined {
  const open = span.tokens.findIndex(({ lower }) => lower === "(");
  if (open < 1 || span.at(-1)?.lower !== ")" || EXPLAINED.match(span.slice(0, open)) === undefined)
    return undefined;
  return readExpression(span.slice(open + 1, -1), plan);
}

function readForm(span: Span, plan: Plan): Arithmetic | undefined {
  for (const [pattern, read] of FORMS) {
    for (const match of pattern.matches(span)) {
      const found = read(match, plan);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function readRounded(span: Span, plan: Plan): Arithmetic | undefined {
  for (const pattern of ROUNDED) {
    for (const match of pattern.matches(span)) {
      const value = match.has("what") ? operand(match.span("what"), plan) : it(plan);
      const digits = match.number("digits") ?? 0;
      if (value === undefined || !Number.isInteger(digits) || digits < 0) continue;
      return { kind: "rounded", value, rounding: (match.meaning("way") || "round") as Rounding, digits };
    }
  }
  return undefined;
}

/** A number, a calculation, or an earlier result. */
export function operand(span: Span, plan: Plan): Arithmetic | undefined {
  const bare = UNIT.match(span.trimmed)?.span("value").trimmed ?? span.trimmed;
  return readExpression(bare, plan, false) ?? readForm(bare, plan);
}

const UNIT = new Pattern("(number|numbers)? {value} (together|dollars|dollar|euros|euro|degrees|degree)?");

function it(plan: Plan): Arithmetic | undefined {
  const { last } = plan;
  return last && operandOf("it", plan);
}

function operandOf(text: string, plan: Plan): Arithmetic | undefined {
  const reference = findReference(text, plan, "number");
  return reference && { kind: "reference", reference };
}

function operands(span: Span, plan: Plan): Arithmetic[] | undefined {
  const values = span.list.slice(0, MAX_LISTED + 1).map((part) => operand(part, plan));
  return values.length > MAX_LISTED || !values.every((value) => value !== undefined) ? undefined : values;
}

function fold(operator: Operator, values: readonly Arithmetic[] | undefined): Arithmetic | undefined {
  if (values === undefined || values.length < 2) return undefined;
  return values.reduce((left, right) => operation(operator, left, right));
}

function listed(operator: Operator): Read {
  return (match, plan) => fold(operator, operands(match.span("list"), plan));
}

function range(match: Match): Arithmetic | undefined {
  return spread(match, (first, last, count) =>
    operation("/", operation("*", operation("+", first, last), count), number(2)),
  );
}

/** What the two ends of a range of whole numbers, and how many there are, make. */
function spread(
  match: Match,
  make: (first: Arithmetic, last: Arithmetic, count: Arithmetic) => Arithmetic,
): Arithmetic | undefined {
  const [first, last] = [match.number("first"), match.number("last")];
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last)) return undefined;
  const [low, high] = [Math.min(first ?? 0, last ?? 0), Math.max(first ?? 0, last ?? 0)];
  return make(number(low), number(high), number(high - low + 1));
}

function pair(operator: Operator): Read {
  return (match, plan) => {
    const [a, b] = [operand(match.span("a"), plan), operand(match.span("b"), plan)];
    return a && b && operation(operator, a, b);
  };
}

function withIt(operator: Operator): Read {
  return (match, plan) => {
    const [a, b] = [it(plan), operand(match.span("b"), plan)];
    return a && b && operation(operator, a, b);
  };
}

function scaled(operator: Operator, by: number): Read {
  return (match, plan) => {
    const a = operand(match.span("a"), plan);
    // `half of 90 plus 10` may mean two things.
    return a === undefined || a.kind === "operation" ? undefined : operation(operator, a, number(by));
  };
}

/** `add 3, 4 and 5`; `add 5` adds to what came before. */
function added(match: Match, plan: Plan): Arithmetic | undefined {
  const values = operands(match.span("list"), plan);
  const [only] = values ?? [];
  if (values?.length !== 1) return fold("+", values);
  const before = it(plan);
  return only?.kind === "number" && before ? operation("+", before, only) : undefined;
}

function all(operator: Operator): Read {
  return (match, plan) => fold(operator, results(plan, match.has("two")));
}

/** The numbers that steps gave and that no other result was made of, where there are two at least. */
function results(plan: Plan, isTwo: boolean): Arithmetic[] | undefined {
  // A file in memory may have a field of that name.
  if (plan.document !== undefined && (plan.document.isLoaded || plan.document.fields.has("results")))
    return undefined;
  const numbers = plan.values.filter(
    ({ schema, isEffect, consumed }) => isNumeric(schema) && !isEffect && !consumed,
  );
  if (isTwo && numbers.length !== 2) return undefined;
  return numbers.map((value) => ({
    kind: "reference",
    reference: { value, expression: value.expression, schema: value.schema },
  }));
}

function average(values: readonly Arithmetic[] | undefined): Arithmetic | undefined {
  const sum = fold("+", values);
  return sum && operation("/", sum, number(values?.length ?? 1));
}

function percentOf(match: Match, value: Arithmetic | undefined): Arithmetic | undefined {
  const percent = match.number("percent");
  if (percent === undefined || value === undefined) return undefined;
  return operation("/", operation("*", value, number(percent)), number(100));
}

function share(match: Match, plan: Plan): Arithmetic | undefined {
  const [a, b] = [operand(match.span("a"), plan), operand(match.span("b"), plan)];
  return a && b && operation("*", operation("/", a, b), number(100));
}

function changed(operator: "+" | "-"): Read {
  return (match, plan) => {
    const value = operand(match.span("a"), plan);
    const part = percentOf(match, value);
    return value && part && operation(operator, value, part);
  };
}

function toFahrenheit(value: Arithmetic | undefined): Arithmetic | undefined {
  return value && operation("+", operation("/", operation("*", value, number(9)), number(5)), number(32));
}

function toCelsius(value: Arithmetic | undefined): Arithmetic | undefined {
  return value && operation("/", operation("*", operation("-", value, number(32)), number(5)), number(9));
}

function plus(value: Arithmetic | undefined, by: number): Arithmetic | undefined {
  return value && operation("+", value, number(by));
}
