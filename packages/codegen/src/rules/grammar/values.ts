import type { Span } from "../language/token.ts";
import { Pattern } from "../language/pattern.ts";
import { onlyCalled } from "../planning/called.ts";
import type { Plan } from "../planning/plan.ts";
import { checkedExpression, findReference, type Reference } from "../planning/references.ts";
import type { Meaning } from "../planning/reading.ts";
import { type Expression, literal, method } from "../program/expression.ts";
import { meaningOf } from "./arithmetic/arithmetic.ts";
import { readArithmetic } from "./arithmetic/read-arithmetic.ts";
import { readAggregate } from "./rows/aggregate.ts";

const NOW: readonly (readonly [Pattern, "date" | "time"])[] = [
  [new Pattern("(today 's)? (current)? date (of today)? | today"), "date"],
  [new Pattern("(current|today 's)? (timestamp|time | date and time) | now"), "time"],
];

/** What words mean as a value: a literal, a calculation, an aggregate, an earlier result, today. As a whole or not at all. */
export function readValue(span: Span, plan: Plan): Meaning | undefined {
  const { trimmed } = span;
  const constant = trimmed.literal;
  if (constant !== undefined)
    return { schema: {}, words: "value", constant: constant.value, lower: () => literal(constant.value) };
  const called = onlyCalled(trimmed.text, plan);
  if (called !== undefined)
    return referenced({ value: called, expression: called.expression, schema: called.schema });
  const arithmetic = readArithmetic(trimmed, plan);
  if (arithmetic !== undefined && arithmetic.kind !== "reference") return meaningOf(arithmetic);
  return readAggregate(trimmed, plan) ?? readNow(trimmed) ?? readResult(trimmed, plan);
}

function readNow(span: Span): Meaning | undefined {
  const kind = NOW.find(([pattern]) => pattern.match(span) !== undefined)?.[1];
  if (kind === undefined) return undefined;
  const text = method({ kind: "new", callee: "Date", args: [] }, "toISOString");
  const lower = (): Expression => (kind === "time" ? text : method(text, "slice", literal(0), literal(10)));
  return { schema: { type: "string" }, words: kind, lower };
}

function readResult(span: Span, plan: Plan): Meaning | undefined {
  const reference = findReference(span.text, plan);
  return reference && referenced(reference);
}

/** An earlier result that is only looked at: it stays a result of its own. */
export function looked(reference: Reference, isNumber = false): Meaning {
  const { value, schema } = reference;
  return { schema, words: value.words, lower: () => checkedExpression(reference, isNumber) };
}

/** An earlier result as a value. */
export function referenced(reference: Reference): Meaning {
  const { value, expression, schema } = reference;
  return {
    schema,
    words: value.words,
    constant: expression === value.expression ? value.constant : undefined,
    lower() {
      value.consumed = value.document === undefined || value.consumed;
      return checkedExpression(reference, false);
    },
  };
}
