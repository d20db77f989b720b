import type { JsonValue } from "@cem/core";
import type { Plan } from "../planning/plan.ts";
import { findReference, sameWords } from "../planning/references.ts";
import type { StateDocument } from "../planning/value.ts";
import { cast, type Expression, literal, member, method } from "../program/expression.ts";
import { readArithmetic } from "../reading/arithmetic.ts";
import type { FieldAssignment } from "../reading/fields.ts";
import { toExpression } from "../planning/arithmetic-expression.ts";
import { readAggregate } from "./aggregate.ts";

/** An empty list needs a type before anything can be added to it. */
export function typedLiteral(value: JsonValue): Expression {
  return Array.isArray(value) && value.length === 0 ? cast(literal(value), "unknown[]") : literal(value);
}

/** A field's value: a word may mean a result, and a number that a result is bound to be becomes that result. */
export function resolveField(assignment: FieldAssignment, plan: Plan): Expression {
  const same = plan.values.findLast(
    (value) =>
      value.constant !== undefined && value.constant === assignment.value && value.document === undefined,
  );
  const isResult = /^(?:result|value|answer|total|sum|output|product|difference|quotient)$/iu.test(
    assignment.key,
  );
  if (same !== undefined && (isResult || sameWords(same.words, assignment.key))) {
    same.consumed = true;
    return same.expression;
  }
  if (assignment.words !== undefined)
    return resolveWords(assignment.words, plan) ?? literal(assignment.value);
  return typedLiteral(assignment.value);
}

/** What words stand for: an earlier result, a sum over a list, a calculation. */
export function resolveWords(words: string, plan: Plan): Expression | undefined {
  const aggregate = readAggregate(words, plan);
  if (aggregate !== undefined) return aggregate.expression;
  const arithmetic = readArithmetic(words);
  if (arithmetic !== undefined) return toExpression(arithmetic, plan, words);
  if (/^(?:the )?(?:current |today's )?(?:timestamp|date and time|time|now)$/iu.test(words))
    return method({ kind: "new", callee: "Date", args: [] }, "toISOString");
  const isPointing =
    /^(?:it|that|this|the\b.*|(?:the )?(?:result|sum|total|product|answer|difference|quotient)|both.*|all.*)$/iu.test(
      words,
    );
  const reference = isPointing ? findReference(words, plan) : undefined;
  if (reference === undefined) return undefined;
  reference.value.consumed = reference.value.document === undefined || reference.value.consumed;
  return reference.expression;
}

export function setField(
  plan: Plan,
  document: StateDocument,
  key: string,
  value: Expression,
  known?: JsonValue,
): void {
  const existing =
    [...document.fields.keys()].find((one) => one === key) ??
    [...document.fields.keys()].find((one) => sameWords(one, key));
  if (existing === undefined && !document.isLoaded) document.added.add(key);
  document.fields.set(existing ?? key, known);
  plan.add({ kind: "assign", target: member(document.value.expression, existing ?? key), value });
}
