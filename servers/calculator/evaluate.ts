import type { Expression } from "./vendor/jsep.js";

const CONSTANTS = new Map([
  ["pi", Math.PI],
  ["e", Math.E],
  ["tau", 2 * Math.PI],
]);

interface MathFunction {
  minimum: number;
  maximum: number;
  apply: (...values: number[]) => number;
}

const one = (apply: (value: number) => number): MathFunction => ({ minimum: 1, maximum: 1, apply });
const many = (apply: (...values: number[]) => number): MathFunction => ({
  minimum: 1,
  maximum: 1_000,
  apply,
});

const FUNCTIONS = new Map<string, MathFunction>([
  ["sqrt", one(Math.sqrt)],
  ["cbrt", one(Math.cbrt)],
  ["abs", one(Math.abs)],
  ["round", { minimum: 1, maximum: 2, apply: (value, digits = 0) => roundTo(value, digits) }],
  ["floor", one(Math.floor)],
  ["ceil", one(Math.ceil)],
  ["trunc", one(Math.trunc)],
  ["sign", one(Math.sign)],
  ["min", many(Math.min)],
  ["max", many(Math.max)],
  ["pow", { minimum: 2, maximum: 2, apply: (base, exponent) => base ** exponent }],
  ["exp", one(Math.exp)],
  ["ln", one(Math.log)],
  ["log", { minimum: 1, maximum: 2, apply: (value, base = Math.E) => logarithm(value, base) }],
  ["log2", one(Math.log2)],
  ["log10", one(Math.log10)],
  ["sin", one(Math.sin)],
  ["cos", one(Math.cos)],
  ["tan", one(Math.tan)],
  ["asin", one(Math.asin)],
  ["acos", one(Math.acos)],
  ["atan", one(Math.atan)],
  ["percent", one((value) => value / 100)],
]);

/** The value of an expression's tree. */
export function evaluate(node: Expression): number {
  switch (node.type) {
    case "Literal":
      if (typeof node.value === "number") return node.value;
      throw new SyntaxError(`${node.raw} is not a number.`);
    case "Identifier":
      return constant(node.name);
    case "UnaryExpression": {
      const value = evaluate(node.argument);
      return node.operator === "-" ? -value : value;
    }
    case "BinaryExpression":
      return binary(node.operator, node.left, node.right);
    case "CallExpression":
      return call(node.callee, node.arguments);
    case "Compound":
    case "SequenceExpression":
      throw new SyntaxError("An operator is missing between two parts of the expression.");
    default:
      throw new SyntaxError(
        `Only numbers, operators, functions and parentheses are arithmetic; this holds a ${node.type}.`,
      );
  }
}

function binary(operator: string, left: Expression, right: Expression): number {
  if (operator === "^" || operator === "**") return power(left, right);
  const a = evaluate(left);
  // As on a pocket calculator, 200 + 10% adds ten per cent of 200.
  const isShare = (operator === "+" || operator === "-") && isPercentage(right) && !isPercentage(left);
  const b = evaluate(right) * (isShare ? a : 1);
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      if (b === 0) throw new RangeError(`Can't divide ${a} by zero.`);
      return a / b;
    case "%":
      if (b === 0) throw new RangeError(`Can't take the remainder of ${a} by zero.`);
      return a % b;
    default:
      throw new SyntaxError(`The operator ${operator} is not known. Use + - * / % ^.`);
  }
}

/** A sign before a power belongs to the whole of it: -2 ^ 2 is -4. */
function power(base: Expression, exponent: Expression): number {
  if (base.type === "UnaryExpression" && !base.grouped) {
    const value = power(base.argument, exponent);
    return base.operator === "-" ? -value : value;
  }
  return evaluate(base) ** evaluate(exponent);
}

function call(callee: Expression, parameters: Expression[]): number {
  if (callee.type !== "Identifier") {
    throw new SyntaxError("An operator is missing before a parenthesis: write 2 * (3 + 4), not 2(3 + 4).");
  }
  const found = FUNCTIONS.get(callee.name.toLowerCase());
  if (!found) {
    throw new ReferenceError(`There is no function "${callee.name}". There are ${names(FUNCTIONS)}.`);
  }
  if (parameters.length < found.minimum || parameters.length > found.maximum) {
    const needed =
      found.minimum === found.maximum ? `${found.minimum}` : `${found.minimum} to ${found.maximum}`;
    throw new SyntaxError(`${callee.name} takes ${needed} numbers, not ${parameters.length}.`);
  }
  return found.apply(...parameters.map(evaluate));
}

function constant(name: string): number {
  const value = CONSTANTS.get(name.toLowerCase());
  if (value !== undefined) return value;
  if (FUNCTIONS.has(name.toLowerCase())) throw new SyntaxError(`${name} is a function: write ${name}(4).`);
  throw new ReferenceError(
    `"${name}" is not a number or a known name. The constants are ${names(CONSTANTS)}.`,
  );
}

function isPercentage(node: Expression): boolean {
  return (
    node.type === "CallExpression" && node.callee.type === "Identifier" && node.callee.name === "percent"
  );
}

function roundTo(value: number, digits: number): number {
  if (!Number.isInteger(digits) || Math.abs(digits) > 15) {
    throw new RangeError(`round takes -15 to 15 digits, not ${digits}.`);
  }
  const [mantissa, exponent = "0"] = String(value).split("e");
  const shifted = Math.round(Number(`${mantissa}e${Number(exponent) + digits}`));
  return Number(`${shifted}e${-digits}`);
}

function logarithm(value: number, base: number): number {
  if (base === 2) return Math.log2(value);
  if (base === 10) return Math.log10(value);
  return Math.log(value) / Math.log(base);
}

function names(known: Map<string, unknown>): string {
  return [...known.keys()].filter((name) => name !== "percent").join(", ");
}
