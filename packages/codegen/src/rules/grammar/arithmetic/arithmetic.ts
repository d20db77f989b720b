import type { JsonSchema } from "@cem/core";
import { checkedExpression, type Reference } from "../../planning/references.ts";
import type { Meaning } from "../../planning/reading.ts";
import { binary, call, type Expression, literal, member, method, name } from "../../program/expression.ts";

export type Operator = "+" | "-" | "*" | "/" | "%" | "**";
export type Rounding = "round" | "ceil" | "floor";

/** A calculation. `reference` is an earlier result. */
export type Arithmetic =
  | { kind: "number"; value: number; text: string }
  | { kind: "reference"; reference: Reference }
  | { kind: "operation"; operator: Operator; left: Arithmetic; right: Arithmetic }
  | { kind: "negate" | "root"; value: Arithmetic }
  | { kind: "rounded"; value: Arithmetic; rounding: Rounding; digits: number };

export const NUMBER: JsonSchema = { type: "number" };

export function number(value: number, text = String(value)): Arithmetic {
  return { kind: "number", value, text };
}

export function operation(operator: Operator, left: Arithmetic, right: Arithmetic): Arithmetic {
  return { kind: "operation", operator, left, right };
}

/** A calculation as a value of the program, in plain TypeScript. */
export function meaningOf(arithmetic: Arithmetic): Meaning {
  return {
    schema: NUMBER,
    words: resultName(arithmetic),
    constant: evaluate(arithmetic),
    lower: () => toExpression(arithmetic),
  };
}

/** Its TypeScript. The results that it takes count as used. */
export function toExpression(arithmetic: Arithmetic): Expression {
  switch (arithmetic.kind) {
    case "number":
      return literal(arithmetic.value);
    case "reference":
      return toNumber(arithmetic.reference);
    case "negate":
      return { kind: "unary", operator: "-", value: toExpression(arithmetic.value) };
    case "root":
      return call(member(name("Math"), "sqrt"), toExpression(arithmetic.value));
    case "operation":
      return binary(toExpression(arithmetic.left), arithmetic.operator, toExpression(arithmetic.right));
    case "rounded":
      return rounded(toExpression(arithmetic.value), arithmetic.rounding, arithmetic.digits);
  }
}

function toNumber(reference: Reference): Expression {
  reference.value.consumed = true;
  return checkedExpression(reference, true);
}

function rounded(value: Expression, rounding: Rounding, digits: number): Expression {
  if (digits === 0) return method(name("Math"), rounding, value);
  if (rounding === "round") return call("Number", method(value, "toFixed", literal(Math.min(digits, 20))));
  const scale = literal(10 ** digits);
  return binary(method(name("Math"), rounding, binary(value, "*", scale)), "/", scale);
}

/** Its value, where it takes no earlier result. */
export function evaluate(arithmetic: Arithmetic): number | undefined {
  if (arithmetic.kind === "number") return arithmetic.value;
  if (arithmetic.kind === "reference") return undefined;
  if (arithmetic.kind === "operation") {
    const [left, right] = [evaluate(arithmetic.left), evaluate(arithmetic.right)];
    return left === undefined || right === undefined
      ? undefined
      : OPERATIONS[arithmetic.operator](left, right);
  }
  const value = evaluate(arithmetic.value);
  if (value === undefined) return undefined;
  if (arithmetic.kind !== "rounded") return arithmetic.kind === "root" ? Math.sqrt(value) : -value;
  const scale = 10 ** arithmetic.digits;
  return Math[arithmetic.rounding](value * scale) / scale;
}

const OPERATIONS: Readonly<Record<Operator, (left: number, right: number) => number>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
  "%": (left, right) => left % right,
  "**": (left, right) => left ** right,
};
const STRENGTH: Readonly<Record<Operator, number>> = { "+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "**": 4 };

/** The calculation as a formula, for a tool that evaluates one and for people; `undefined` when it takes earlier results. */
export function formula(arithmetic: Arithmetic, level = 0): string | undefined {
  switch (arithmetic.kind) {
    case "number":
      return arithmetic.value < 0 && level > 1 ? `(${arithmetic.text})` : arithmetic.text;
    case "operation": {
      const own = STRENGTH[arithmetic.operator];
      const isPower = arithmetic.operator === "**";
      const left = formula(arithmetic.left, isPower ? own + 1 : own);
      const right = formula(arithmetic.right, isPower ? own : own + 1);
      if (left === undefined || right === undefined) return undefined;
      return wrap(`${left} ${isPower ? "^" : arithmetic.operator} ${right}`, own, level);
    }
    case "negate": {
      const value = formula(arithmetic.value, 3);
      return value === undefined ? undefined : wrap(`-${value}`, 3, level);
    }
    case "root": {
      const value = formula(arithmetic.value);
      return value === undefined ? undefined : `sqrt(${value})`;
    }
    default:
      return undefined;
  }
}

function wrap(text: string, own: number, level: number): string {
  return own < level ? `(${text})` : text;
}

const NAMES: Readonly<Record<Operator, string>> = {
  "+": "sum",
  "-": "difference",
  "*": "product",
  "/": "quotient",
  "%": "remainder",
  "**": "power",
};

/** What people call the result. */
export function resultName(arithmetic: Arithmetic): string {
  if (arithmetic.kind === "root") return "root";
  if (arithmetic.kind === "rounded") return "rounded";
  if (arithmetic.kind !== "operation") return "result";
  const { operator, left, right } = arithmetic;
  const isPercentage =
    operator === "/" && right.kind === "number" && right.value === 100 && left.kind === "operation";
  if (isPercentage) return "percentage";
  if (operator === "+" && right.kind === "reference") return "total";
  const operators = new Set(operatorsIn(arithmetic));
  return operators.size > 1 ? "result" : NAMES[operator];
}

function operatorsIn(arithmetic: Arithmetic): Operator[] {
  if (arithmetic.kind === "operation")
    return [arithmetic.operator, ...operatorsIn(arithmetic.left), ...operatorsIn(arithmetic.right)];
  return arithmetic.kind === "number" || arithmetic.kind === "reference" ? [] : operatorsIn(arithmetic.value);
}
