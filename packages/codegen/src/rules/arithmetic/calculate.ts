import type { ToolDefinition } from "@cem/core";
import { form, listOf, meaningOf, oneOf, type Match, type Phrase } from "../language/phrase.ts";
import type { Plan } from "../planning/plan.ts";
import { referToAll, asNumber, partOf } from "../planning/references.ts";
import { cite, isNumeric } from "../planning/value.ts";
import { call, literal, method, binary, type Expression } from "../program/expression.ts";
import { combine, createCalculationReader, numberOf, resultAs } from "./expression.ts";
import type { Calculation, Operator } from "./expression.ts";
import { COMPARATORS, EQUALITIES } from "../phrases.ts";

const ASK = "(?:calculate|compute|evaluate|solve|determine|find|get|what is|how much is)";
const CALCULATE = form(`(?:${ASK} )?(?:(?:new|next) (?:step|value|result) )?{what}(?: = {stated:number})?`);
/** Instructions with their operator. A missing operand is the latest number. */
const ORDERS: readonly (readonly [RegExp, Operator])[] = [
  [form("add {right} to {left}"), "+"],
  [form("subtract {right}(?: from {left})?"), "-"],
  [form("multiply(?: {left})? (?:by|and|with) {right}"), "*"],
  [form("divide(?: {left})? by {right}"), "/"],
];
const LISTED = form(`(?:${ASK} )?(?<verb>add|sum|total|product|difference)(?: (?:up|of|between))? {what}`);
const LIST_OPERATORS: Readonly<Record<string, Operator>> = { product: "*", difference: "-" };
const SCALE = form("(?<verb>double|triple|halve|square) {what}");
const SCALES: Readonly<Record<string, readonly [Operator, number]>> = {
  double: ["*", 2],
  triple: ["*", 3],
  halve: ["/", 2],
  square: ["**", 2],
};
const ROUND = form(
  "round(?: (?<what>\\S.*?))?(?: off)? to {digits:number} (?:decimals?|decimal places?|places)",
);
const USE = /^use calculator to | (?:using|with) calculator$/gu;
const WORDS: Readonly<Record<string, string>> = {
  "+": "sum",
  "-": "difference",
  "*": "product",
  "/": "quotient",
  "%": "remainder",
};

export function planCalculation(phrase: Phrase, plan: Plan): boolean {
  const [plain = phrase] = phrase.split(USE);
  return planOrder(plain, plan) || planRounding(plain, plan) || planCalculations(plain, plan);
}

/** `calculate 2 + 3 and 4 * 5`, `10 * 5 = 50` */
function planCalculations(phrase: Phrase, plan: Plan): boolean {
  const found = phrase.match(CALCULATE);
  const what = found?.part("what");
  if (found === undefined || what === undefined) return false;
  const reader = createCalculationReader(what, plan);
  const calculations: Calculation[] = [];
  do {
    const calculation = reader.read();
    if (calculation === undefined) return false;
    calculations.push(calculation);
  } while (reader.skip(", and") || reader.skip("and") || reader.skip(","));
  if (!reader.isAtEnd() || calculations.every(isResult)) return false;
  // A single number is not a calculation: `get 3`.
  const isNumber = calculations.every((one) => one.depth === 0 && !isResult(one));
  if (isNumber && !/^(?:calculate|compute|evaluate)/u.test(phrase.shape)) return false;
  checkStated(calculations, found, plan);
  for (const calculation of calculations) declare(calculation, plan);
  return true;
}

function checkStated(calculations: readonly Calculation[], found: Match, plan: Plan): void {
  const stated = found.number("stated");
  const [only, other] = calculations;
  const actual = other === undefined ? only?.constant : undefined;
  if (stated === undefined || actual === stated) return;
  const known = `${found.part("what")?.text ?? ""} is ${actual}, not ${stated}. Leave one of them out.`;
  throw plan.unread(String(stated), actual === undefined ? `Leave "= ${stated}" out.` : known);
}

/** `multiply the result by 4`, `subtract 3 from 5`, `double it`, `add 2 and 3` */
function planOrder(phrase: Phrase, plan: Plan): boolean {
  for (const [pattern, operator] of ORDERS) {
    const found = phrase.match(pattern);
    if (found === undefined) continue;
    const ordered = combine(operand(found, "left", plan), operator, readOne(found.part("right"), plan));
    if (ordered !== undefined) return planOne(ordered, plan);
  }
  const scale = phrase.match(SCALE);
  const [operator, factor] = SCALES[scale?.lower("verb") ?? ""] ?? ["*", 1];
  if (scale !== undefined)
    return planOne(combine(readOne(scale.part("what"), plan), operator, numberOf(factor)), plan);
  const listed = phrase.match(LISTED);
  return listed !== undefined && planListed(listed, plan);
}

/** `add 2 and 3`, `add both results`, `the sum of 2, 4 and 9`; `add 5` to the latest number */
function planListed(found: Match, plan: Plan): boolean {
  const parts = operandsOf(found.part("what"), plan);
  const verb = found.lower("verb");
  const operands = parts.length === 1 && verb === "add" ? [lastNumber(plan), ...parts] : parts;
  const operator = LIST_OPERATORS[verb] ?? "+";
  if (operands.length < 2 || (operator === "-" && operands.length > 2)) return false;
  const [first, ...others] = operands;
  let calculation = first;
  for (const other of others) calculation = combine(calculation, operator, other);
  return planOne(calculation, plan);
}

function operandsOf(what: Phrase | undefined, plan: Plan): (Calculation | undefined)[] {
  if (what === undefined) return [];
  const all = referToAll(what.shape, plan);
  if (all === undefined) return listOf(what).map((part) => readOne(part, plan));
  return all.map((value) => resultAs(value.expression, value));
}

function planRounding(phrase: Phrase, plan: Plan): boolean {
  const found = phrase.match(ROUND);
  const digits = found?.number("digits");
  if (found === undefined || digits === undefined || !Number.isInteger(digits) || digits < 0 || digits > 15)
    return false;
  const of = operand(found, "what", plan);
  if (of === undefined) return false;
  consume(of);
  const number = isResult(of) ? of.expression : call("Number", of.expression);
  const fixed = method(number, "toFixed", literal(digits));
  plan.declare(call("Number", fixed), { words: "rounded", schema: { type: "number" } });
  return true;
}

function operand(found: Match, part: string, plan: Plan): Calculation | undefined {
  const phrase = found.part(part);
  return phrase === undefined ? lastNumber(plan) : readOne(phrase, plan);
}

function lastNumber(plan: Plan): Calculation | undefined {
  const value = plan.values.at(-1);
  if (value === undefined || !isNumeric(value.schema)) return undefined;
  return resultAs(value.expression, value);
}

function readOne(phrase: Phrase | undefined, plan: Plan): Calculation | undefined {
  if (phrase === undefined) return undefined;
  const reader = createCalculationReader(phrase, plan);
  const calculation = reader.read();
  return reader.isAtEnd() ? calculation : undefined;
}

/** Whether it is an earlier result as it is. */
function isResult({ depth, constant }: Calculation): boolean {
  return depth === 0 && constant === undefined;
}

function planOne(calculation: Calculation | undefined, plan: Plan): boolean {
  if (calculation === undefined) return false;
  declare(calculation, plan);
  return true;
}

function declare(calculation: Calculation, plan: Plan): void {
  const { constant, depth, operator, results } = calculation;
  if (constant !== undefined && !Number.isFinite(constant))
    throw plan.unread("number", `${cite(plan.stepText)} comes to no number.`);
  consume(calculation);
  const words = operator !== undefined && depth === 1 ? WORDS[operator] : undefined;
  const field = results[0]?.field;
  const schema = { type: "number" };
  plan.declare(expressionOf(calculation, plan), { words: words ?? "result", schema, constant, field });
}

/** Calculated by a calculator tool if there is one and all numbers are known; otherwise in the program. */
function expressionOf(calculation: Calculation, plan: Plan): Expression {
  const { expression, results, depth, isExact } = calculation;
  const calculator = calculatorIn(plan.tools);
  if (calculator !== undefined && results.length === 0 && depth > 0) {
    const formula = literal(expression.text.replaceAll("**", "^"));
    return plan.callTool(calculator, new Map([["expression", formula]]));
  }
  return isExact ? expression : call("readable", expression);
}

/** The only tool that takes an arithmetic expression and always returns a number. */
function calculatorIn(tools: readonly ToolDefinition[]): ToolDefinition | undefined {
  const found = tools.filter(
    ({ name: toolName, inputSchema, outputSchema }) =>
      toolName === "calculate" &&
      inputSchema.properties?.["expression"]?.type === "string" &&
      (inputSchema.required ?? []).every((parameter) => parameter === "expression") &&
      isNumeric(outputSchema ?? {}),
  );
  return found.length === 1 ? found[0] : undefined;
}

function consume(calculation: Calculation): void {
  for (const { value } of calculation.results) value.consumed = true;
}

const IS = "(?:is|are|was|were|'s|be|has|of)";
const NUMBERS = form(
  `{left} (?:${IS} )?(?<comparator>${oneOf(COMPARATORS)}|${oneOf(EQUALITIES)}) {right}(?<degrees> degrees?)?`,
);

export function readComparison(phrase: Phrase, plan: Plan): Expression | undefined {
  const found = phrase.match(NUMBERS);
  if (found === undefined) return undefined;
  const comparator = found.lower("comparator");
  const operator = meaningOf(comparator, COMPARATORS) ?? meaningOf(comparator, EQUALITIES);
  const left = readLeft(found, plan);
  const right = readOne(found.part("right"), plan);
  if (operator === undefined || left === undefined || right === undefined) return undefined;
  return binary(left.expression, operator, right.expression);
}

/** `it` is a temperature if it is compared with degrees. */
function readLeft(found: Match, plan: Plan): Calculation | undefined {
  const left = found.part("left");
  const isWarmth = found.lower("degrees") !== "" && /^(?:it|that|this)$/u.test(left?.shape ?? "");
  const part = isWarmth ? partOf(["temperature", "temp"], plan) : undefined;
  if (part === undefined) return readOne(left, plan);
  return resultAs(asNumber(part), part.value, part.key);
}
