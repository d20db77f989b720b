import type { JsonSchema, ToolDefinition } from "@cem/core";
import { splitWords } from "@cem/text";
import { readParameters } from "../arguments/roles.ts";
import type { Plan } from "../planning/plan.ts";
import { findReference } from "../planning/references.ts";
import { isNumeric } from "../planning/value.ts";
import { call, type Expression, literal, member, method, name } from "../program/expression.ts";
import type { Arithmetic } from "../reading/arithmetic-types.ts";
import { evaluate, formula, resultName } from "../reading/formula.ts";
import { readArithmetic } from "../reading/arithmetic.ts";
import { readNumber } from "../reading/phrase.ts";
import { readTest } from "../planning/conditions.ts";
import { toExpression } from "../planning/arithmetic-expression.ts";
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
  if (planRounding(context) || planStart(context) || planQuestion(context) || planExtreme(context))
    return true;
  const arithmetic = readArithmetic(step.text) ?? overResults(step.text, plan);
  if (arithmetic === undefined && planSeveral(context)) return true;
  if (
    arithmetic === undefined ||
    (isBareReference(arithmetic) && evaluate(arithmetic) === undefined && !allKnown(arithmetic, plan))
  )
    return false;
  const skill = matches.find(
    (match) => match.tool.kind === "skill" && match.isStrong && !/[-+*/^]/u.test(step.text),
  );
  if (skill !== undefined) return false;
  const text = formula(arithmetic);
  const value = evaluate(arithmetic);
  const tool = findTool(arithmetic, step.text, plan, text);
  const expression = tool ?? { expression: toExpression(arithmetic, plan, step.text), schema: NUMBER_SCHEMA };
  const source = sourceField(arithmetic, plan);
  const declared = plan.declare(expression.expression, {
    words: source === undefined ? nameOf(arithmetic) : `next ${source}`,
    schema: expression.schema,
  });
  if (source !== undefined) declared.source = source;
  if (value !== undefined) declared.constant = value;
  if (text !== undefined) declared.formula = text;
  return true;
}

/** `Take 20`: a number that the next steps work on. */
function planStart({ step, plan }: StepContext): boolean {
  const words =
    /^(?:take|start with|begin with|consider|start from)\s+(?:the\s+(?:number|value)\s+)?(.+)$/iu.exec(
      step.text,
    )?.[1];
  const value = words === undefined ? undefined : readNumber(words);
  if (value === undefined) return false;
  plan.declare(literal(value), { words: "number", schema: NUMBER_SCHEMA }).constant = value;
  return true;
}

const EXTREME =
  /^(?:(?:find|get|give me|calculate|compute|determine|return|what is|what's|show(?: me)?)\s+)?(?:the\s+)?(maximum|max|minimum|min|largest|biggest|greatest|highest|smallest|lowest)(?:\s+(?:number|value|one))?(?:\s+(?:of|among|between|in|from|out of)\s+|\s*[,:]\s*)(.+)$|^(?:which|what)\s+(?:one\s+|number\s+|value\s+)?is\s+(?:the\s+)?(bigger|larger|greater|higher|smaller|lower|less|biggest|largest|greatest|highest|smallest|lowest)\s*[,:]\s*(.+)$/iu;

/** `the maximum of 4, 19 and 7`, `which is bigger, 17 * 3 or 7 * 8?` */
function planExtreme({ step, plan }: StepContext): boolean {
  const match = EXTREME.exec(step.text.replace(/[?.]+$/u, ""));
  const word = match?.[1] ?? match?.[3] ?? "";
  const parts = (match?.[2] ?? match?.[4] ?? "").split(/,(?!\d{3}\b)\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+/iu);
  const values = parts.map((part): Arithmetic | undefined => {
    const value = readNumber(part);
    return value === undefined ? readArithmetic(part) : { kind: "number", value, text: part };
  });
  if (
    match === null ||
    values.length < 2 ||
    values.length > 500 ||
    !values.every((one) => one !== undefined && allKnown(one, plan))
  )
    return false;
  const items = values.filter((one) => one !== undefined).map((one) => toExpression(one, plan, step.text));
  const kind = /^(?:min|small|low|less)/iu.test(word) ? "min" : "max";
  plan.declare(call(member(name("Math"), kind), ...items), {
    words: kind === "min" ? "minimum" : "maximum",
    schema: NUMBER_SCHEMA,
  });
  return true;
}

/** `Is 7 greater than 5?` */
function planQuestion({ step, plan }: StepContext): boolean {
  const question = step.text.replace(
    /^(?:check|tell me|determine|verify|see|find out|decide)\s+(?:whether|if)\s+(.{1,200}?)\s+(is|are)\s+/iu,
    "$2 $1 ",
  );
  const match =
    /^(?:is|are)\s+(.{1,200}?)\s+((?:(?:strictly\s+)?(?:greater|more|bigger|larger|higher|less|smaller|lower|fewer)\s+than|above|below|over|under|equal to|the same as|at least|at most|>|<|>=|<=|=+|even|odd|positive|negative)\b.*|[<>=]+.*)\??$/iu.exec(
      question,
    );
  if (match?.[1] === undefined || match[2] === undefined) return false;
  const isKnown =
    readNumber(match[1]) !== undefined ||
    readArithmetic(match[1]) !== undefined ||
    findReference(match[1], plan, "number") !== undefined;
  if (!isKnown) return false;
  const rest = match[2].replace(/\?$/u, "").replace(/^the same as/iu, "equal to");
  plan.declare(readTest(`${match[1]} is ${rest}`, plan), { words: "answer", schema: { type: "boolean" } });
  return true;
}

/** `calculate 2 + 3 and 4 * 5`: one result each. */
function planSeveral({ step, plan, matches }: StepContext): boolean {
  const verb = /^(?:calculate|compute|evaluate|solve|what is|what's|what are)\s+/iu.exec(step.text)?.[0];
  const parts =
    verb === undefined ? [] : step.text.slice(verb.length).split(/\s*,\s*(?:and\s+)?|\s+and\s+|\s*;\s*/iu);
  if (parts.length < 2 || parts.length > 50 || parts.some((part) => readArithmetic(part) === undefined))
    return false;
  return parts.every((part) =>
    planArithmetic({ step: { ...step, text: `calculate ${part}` }, plan, matches }),
  );
}

const OVER_RESULTS =
  /^(add|sum|multiply|subtract|average|combine)(?: up| together)?\s+(?:both|all|the|these|those|them|the two)?\s*(?:of\s+)?(?:the\s+|these\s+)?(?:two\s+)?(?:results|numbers|values|answers|them|both)(?:\s+together|\s+up)?$|^(add|multiply|sum|subtract) (?:them|both)(?: together| up)?$/iu;

/** `add both results`: the numbers that earlier steps gave. */
function overResults(text: string, plan: Plan): Arithmetic | undefined {
  const match = OVER_RESULTS.exec(text);
  const numbers = plan.values.filter((value) => isNumeric(value.schema) && !value.consumed);
  const [first, ...more] = numbers.map((value): Arithmetic => ({
    kind: "reference",
    words: `\u0000${value.name}`,
  }));
  if (match === null || first === undefined || more.length === 0) return undefined;
  const verb = (match[1] ?? match[2] ?? "").toLowerCase();
  const operator = verb === "multiply" ? "*" : verb === "subtract" ? "-" : "+";
  const total = more.reduce(
    (left, right): Arithmetic => ({ kind: "operation", operator, left, right }),
    first,
  );
  if (verb !== "average") return total;
  return {
    kind: "operation",
    operator: "/",
    left: total,
    right: { kind: "number", value: numbers.length, text: String(numbers.length) },
  };
}

/** `double the weather` is none of ours: every reference must be known. */
function isBareReference(arithmetic: Arithmetic): boolean {
  return (
    arithmetic.kind === "reference" ||
    (arithmetic.kind === "operation" &&
      (isBareReference(arithmetic.left) || isBareReference(arithmetic.right)))
  );
}

function allKnown(arithmetic: Arithmetic, plan: Plan): boolean {
  if (arithmetic.kind === "number") return true;
  if (arithmetic.kind === "reference") return findReference(arithmetic.words, plan, "number") !== undefined;
  if (arithmetic.kind === "operation")
    return allKnown(arithmetic.left, plan) && allKnown(arithmetic.right, plan);
  return allKnown(arithmetic.value, plan);
}

/** A sum of earlier results is their total. */
function nameOf(arithmetic: Arithmetic): string {
  const isTotal =
    arithmetic.kind === "operation" && arithmetic.operator === "+" && arithmetic.right.kind === "reference";
  return isTotal ? "total" : resultName(arithmetic);
}

/** The field of the open file that a step like `result + 1` moves on. */
function sourceField(arithmetic: Arithmetic, plan: Plan): string | undefined {
  if (
    arithmetic.kind !== "operation" ||
    arithmetic.left.kind !== "reference" ||
    arithmetic.right.kind !== "number"
  )
    return undefined;
  const reference = findReference(arithmetic.left.words, plan, "number");
  return reference?.value.document !== undefined && reference.expression.kind === "member"
    ? reference.expression.key
    : undefined;
}

interface ToolExpression {
  expression: Expression;
  schema: JsonSchema;
}

function findTool(
  arithmetic: Arithmetic,
  step: string,
  plan: Plan,
  text: string | undefined,
): ToolExpression | undefined {
  const evaluating = plan.tools.find((tool) =>
    readParameters(tool).some((one) => one.role === "expression" && one.isRequired),
  );
  const named = arithmetic.kind === "operation" ? findByOperator(arithmetic.operator, plan.tools) : undefined;
  const isNamedInText =
    named !== undefined &&
    arithmetic.kind === "operation" &&
    isSimple(arithmetic) &&
    (evaluating === undefined || !/[-+*/^×÷]/u.test(step.replaceAll(/(?<!\d\s*)-/gu, "")));
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
  return (
    arithmetic.left.kind !== "operation" &&
    arithmetic.right.kind !== "operation" &&
    arithmetic.left.kind !== "root"
  );
}

function findByOperator(operator: string, tools: readonly ToolDefinition[]): ToolDefinition | undefined {
  return tools.find((tool) => {
    const words = splitWords(tool.name);
    const parameters = readParameters(tool);
    const isPair =
      parameters.filter((one) => one.isRequired).length === 2 &&
      parameters.slice(0, 2).every((one) => isNumeric(one.schema) && one.isRequired);
    return isPair && words.some((word) => NAMES[operator]?.includes(word));
  });
}

function planRounding({ step, plan }: StepContext): boolean {
  const precision =
    /\s(?:to|at) (?:(\d+|two|one|three|four|zero|no) (?:decimals?|digits?|decimal places?|places?)(?: after.*)?|(?:the )?(?:nearest )?(?:whole number|integer))$/iu.exec(
      step.text,
    );
  const match = /^round\b\s*(.*)$/iu.exec(step.text.slice(0, precision?.index));
  if (match === null) return false;
  const words = match[1] === undefined || /^(?:up|down|off)?$/iu.test(match[1]) ? "it" : match[1];
  const reference = findReference(words.replace(/^(?:it|the result) (?:up|down)$/iu, "it"), plan, "number");
  if (reference === undefined) return false;
  const digits =
    { zero: 0, no: 0, one: 1, two: 2, three: 3, four: 4 }[precision?.[1]?.toLowerCase() ?? ""] ??
    Number(precision?.[1] ?? 0);
  reference.value.consumed = true;
  const rounded =
    digits === 0
      ? method(name("Math"), "round", reference.expression)
      : call("Number", method(reference.expression, "toFixed", literal(Math.min(digits, 20))));
  plan.declare(rounded, { words: "rounded", schema: NUMBER_SCHEMA });
  return true;
}
