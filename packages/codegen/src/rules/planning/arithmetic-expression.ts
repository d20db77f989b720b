import { binary, call, type Expression, literal, member, name } from "../program/expression.ts";
import type { Arithmetic } from "../reading/arithmetic-types.ts";
import { type Plan, Unfilled } from "./plan.ts";
import { findReference } from "./references.ts";

/** A calculation as plain TypeScript. */
export function toExpression(arithmetic: Arithmetic, plan: Plan, step: string): Expression {
  switch (arithmetic.kind) {
    case "number":
      return literal(arithmetic.value);
    case "negate":
      return { kind: "unary", operator: "-", value: toExpression(arithmetic.value, plan, step) };
    case "root":
      return call(member(name("Math"), "sqrt"), toExpression(arithmetic.value, plan, step));
    case "operation":
      return binary(
        toExpression(arithmetic.left, plan, step),
        arithmetic.operator,
        toExpression(arithmetic.right, plan, step),
      );
    case "reference": {
      const reference = findReference(arithmetic.words, plan, "number");
      if (reference === undefined) {
        throw new Unfilled({
          step,
          reason: "missing-argument",
          argument: arithmetic.words,
          hint: `There is no earlier number that "${arithmetic.words}" could mean. Write the number itself.`,
        });
      }
      reference.value.consumed = true;
      return reference.expression;
    }
  }
}
