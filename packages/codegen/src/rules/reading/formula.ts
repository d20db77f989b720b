import type { Arithmetic, ArithmeticOperator } from "./arithmetic-types.ts";

/** Its value when it holds no reference. */
export function evaluate(arithmetic: Arithmetic): number | undefined {
  if (arithmetic.kind === "number") return arithmetic.value;
  if (arithmetic.kind === "reference") return undefined;
  if (arithmetic.kind !== "operation") {
    const value = evaluate(arithmetic.value);
    if (value === undefined) return undefined;
    return arithmetic.kind === "root" ? Math.sqrt(value) : -value;
  }
  const left = evaluate(arithmetic.left);
  const right = evaluate(arithmetic.right);
  if (left === undefined || right === undefined) return undefined;
  switch (arithmetic.operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return left / right;
    case "%":
      return left % right;
    case "**":
      return left ** right;
  }
}

const STRENGTH: Readonly<Record<ArithmeticOperator, number>> = {
  "+": 1,
  "-": 1,
  "*": 2,
  "/": 2,
  "%": 2,
  "**": 4,
};

/** The calculation as a formula for a tool that evaluates one, or undefined when it refers to earlier results. */
export function formula(arithmetic: Arithmetic, level = 0): string | undefined {
  if (arithmetic.kind === "number")
    return arithmetic.value < 0 && level > 1 ? `(${arithmetic.text})` : arithmetic.text;
  if (arithmetic.kind === "reference") return undefined;
  if (arithmetic.kind !== "operation") {
    const value = formula(arithmetic.value, arithmetic.kind === "root" ? 0 : 3);
    if (value === undefined) return undefined;
    return arithmetic.kind === "root" ? `sqrt(${value})` : wrap(`-${value}`, 3, level);
  }
  const own = STRENGTH[arithmetic.operator];
  const left = formula(arithmetic.left, arithmetic.operator === "**" ? own + 1 : own);
  const right = formula(arithmetic.right, arithmetic.operator === "**" ? own : own + 1);
  if (left === undefined || right === undefined) return undefined;
  return wrap(`${left} ${arithmetic.operator === "**" ? "^" : arithmetic.operator} ${right}`, own, level);
}

function wrap(text: string, own: number, level: number): string {
  return own < level ? `(${text})` : text;
}

/** What people call the result. */
export function resultName(arithmetic: Arithmetic): string {
  if (arithmetic.kind === "root") return "root";
  if (arithmetic.kind !== "operation") return "result";
  const isPercentage =
    arithmetic.operator === "/" &&
    arithmetic.right.kind === "number" &&
    arithmetic.right.value === 100 &&
    arithmetic.left.kind === "operation";
  if (isPercentage) return "percentage";
  const kinds = new Set<string>();
  collectOperators(arithmetic, kinds);
  if (kinds.size > 1) return "result";
  return { "+": "sum", "-": "difference", "*": "product", "/": "quotient", "%": "remainder", "**": "power" }[
    arithmetic.operator
  ];
}

function collectOperators(arithmetic: Arithmetic, found: Set<string>): void {
  if (arithmetic.kind === "operation") {
    found.add(arithmetic.operator);
    collectOperators(arithmetic.left, found);
    collectOperators(arithmetic.right, found);
  } else if (arithmetic.kind === "negate" || arithmetic.kind === "root") {
    collectOperators(arithmetic.value, found);
  }
}
