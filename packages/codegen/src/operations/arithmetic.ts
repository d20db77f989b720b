import type { JsonSchema, ToolDefinition } from "@cem/core";
import { splitWords } from "@cem/text";
import { readParameters } from "../arguments/roles.ts";
import { type Plan, Unfilled } from "../planning/plan.ts";
import { findReference } from "../planning/references.ts";
import { isNumeric } from "../planning/value.ts";
import { binary, call, type Expression, literal, member, method, name } from "../program/expression.ts";
import { type Arithmetic, evaluate, formula, readArithmetic, resultName } from "../reading/arithmetic.ts";
import type { StepContext } from "./operation.ts";

const NUMBER_SCHEMA = { type: "number" };
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "+": ["add", "sum", "plus", "addition"],
  "-": ["subtract", "minus", "difference", "subtraction"],
  "*": ["multiply", "times", "product", "multiplication"],
  "/": ["divide", "division", "quotient"],
  "**": ["power", "pow", "exponentiate"],
  "%": ["modulo", "mod", "remainder"],
};

/** Calculations with numbers from the text and with earlier results. */
export function planArithmetic(context: StepContext): boolean {
  const { step, plan, matches } = context;
  if (planRounding(context)) return true;
  const arithmetic = readArithmetic(step.text);
  if (arithmetic === undefined || (isBareReference(arithmetic) && evaluate(arithmetic) === undefined && !allKnown(arithmetic, plan))) return false;
  const skill = matches.find((match) => match.tool.kind === "skill" && match.isStrong && !/[-+*/^]/u.test(step.text));
  if (skill !== undefined) return false;
  const text = formula(arithmetic);
  const value = evaluate(arithmetic);
  const tool = findTool(arithmetic, step.text, plan, text);
  const expression = tool ?? { expression: toExpression(arithmetic, plan, step.text), schema: NUMBER_SCHEMA };
  const declared = plan.declare(expression.expression, { words: resultName(arithmetic), schema: expression.schema });
  if (value !== undefined) declared.constant = value;
  if (text !== undefined) declared.formula = text;
  return true;
}

/** `double the weather` is none of ours: every reference must be known. */
function isBareReference(arithmetic: Arithmetic): boolean {
  return arithmetic.kind === "reference" || (arithmetic.kind === "operation" && (isBareReference(arithmetic.left) || isBareReference(arithmetic.right)));
}

function allKnown(arithmetic: Arithmetic, plan: Plan): boolean {
  if (arithmetic.kind === "number") return true;
  if (arithmetic.kind === "reference") return findReference(arithmetic.words, plan, "number") !== undefined;
  if (arithmetic.kind === "operation") return allKnown(arithmetic.left, plan) && allKnown(arithmetic.right, plan);
  return allKnown(arithmetic.value, plan);
}

interface ToolExpression {
  expression: Expression;
  schema: JsonSchema;
}

function findTool(arithmetic: Arithmetic, step: string, plan: Plan, text: string | undefined): ToolExpression | undefined {
  const evaluating = plan.tools.find((tool) => readParameters(tool).some((one) => one.role === "expression" && one.isRequired));
  const named = arithmetic.kind === "operation" ? findByOperator(arithmetic.operator, plan.tools) : undefined;
  const isNamedInText = named !== undefined && arithmetic.kind === "operation" && isSimple(arithmetic) && (evaluating === undefined || !/[-+*/^×÷]/u.test(step.replaceAll(/(?<!\d\s*)-/gu, "")));
  if (named !== undefined && isNamedInText && arithmetic.kind === "operation") {
    const [first, second] = readParameters(named);
    if (first === undefined || second === undefined) return undefined;
    const args = new Map([
      [first.name, toExpression(arithmetic.left, plan, step)],
      [second.name, toExpression(arithmetic.right, plan, step)],
    ]);
    return numberFrom(named, plan.callTool(named, args));
  }
  const parameter = evaluating && readParameters(evaluating).find((one) => one.role === "expression");
  if (evaluating === undefined || parameter === undefined || text === undefined) return undefined;
  return numberFrom(evaluating, plan.callTool(evaluating, new Map([[parameter.name, literal(text)]])));
}

function numberFrom(tool: ToolDefinition, expression: Expression): ToolExpression {
  return { expression, schema: tool.outputSchema ?? NUMBER_SCHEMA };
}

function isSimple(arithmetic: Arithmetic & { kind: "operation" }): boolean {
  return arithmetic.left.kind !== "operation" && arithmetic.right.kind !== "operation" && arithmetic.left.kind !== "root";
}

function findByOperator(operator: string, tools: readonly ToolDefinition[]): ToolDefinition | undefined {
  return tools.find((tool) => {
    const words = splitWords(tool.name);
    const parameters = readParameters(tool);
    const isPair = parameters.filter((one) => one.isRequired).length === 2 && parameters.slice(0, 2).every((one) => isNumeric(one.schema) && one.isRequired);
    return isPair && words.some((word) => NAMES[operator]?.includes(word));
  });
}

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
      return binary(toExpression(arithmetic.left, plan, step), arithmetic.operator, toExpression(arithmetic.right, plan, step));
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

function planRounding({ step, plan }: StepContext): boolean {
  const match = /^round(?: (.*?))?(?: (?:to|at) (?:(\d+|two|one|three|four|zero|no) (?:decimals?|digits?|decimal places?|places?)(?: after.*)?|(?:the )?(?:nearest )?(?:whole number|integer)))?$/iu.exec(step.text);
  if (match === null) return false;
  const words = match[1] === undefined || match[1] === "" ? "it" : match[1];
  const reference = findReference(words.replace(/^(?:it|the result) (?:up|down)$/iu, "it"), plan, "number");
  if (reference === undefined) return false;
  const digits = { zero: 0, no: 0, one: 1, two: 2, three: 3, four: 4 }[match[2]?.toLowerCase() ?? ""] ?? Number(match[2] ?? 0);
  reference.value.consumed = true;
  const rounded =
    digits === 0 ? method(name("Math"), "round", reference.expression) : call("Number", method(reference.expression, "toFixed", literal(Math.min(digits, 20))));
  plan.declare(rounded, { words: "rounded", schema: NUMBER_SCHEMA });
  return true;
}

