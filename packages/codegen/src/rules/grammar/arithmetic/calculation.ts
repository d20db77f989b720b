import type { JsonSchema, ToolDefinition } from "@cem/core";
import { splitWords } from "@cem/text";
import { readParameters } from "../calls/parameters.ts";
import { Pattern } from "../../language/pattern.ts";
import type { Span } from "../../language/token.ts";
import type { Plan } from "../../planning/plan.ts";
import { RANK, type Reading } from "../../planning/reading.ts";
import type { Production, Step } from "../../planning/step.ts";
import { isNumeric, propertiesOf } from "../../planning/value.ts";
import { type Expression, literal, member, name, call } from "../../program/expression.ts";
import { readTest } from "../conditions/conditions.ts";
import { type Arithmetic, evaluate, formula, NUMBER, resultName, toExpression } from "./arithmetic.ts";
import { operand, readArithmetic } from "./read-arithmetic.ts";
import type { Operator } from "./arithmetic.ts";

const ASKS =
  "(calculate|compute|evaluate|solve|find|get|determine|return|show|tell | what (is|are) | work out)?";
const START = new Pattern("(take|consider | (start|begin) (with|from)) (number|value)? {value:number}");
const SEVERAL = new Pattern("(calculate|compute|evaluate|solve | what (is|are)) {list}");
const EXTREMES: readonly Pattern[] = [
  `${ASKS} {kind:@extreme} (number|value|one)? (of|among|between|in|from | out of)? :? {list}`,
  "(which|what) (one|number|value)? is {kind:@extreme} (, | :)? {list}",
].map((text) => new Pattern(text, { extreme: extremes() }));
const QUESTIONS: readonly Pattern[] = [
  "(is|are) {test}",
  "(check|tell|determine|verify|see | find out) (whether|if) {test}",
].map((text) => new Pattern(text));

function extremes(): Record<string, string> {
  const most = "maximum max largest biggest greatest highest bigger larger greater higher".split(" ");
  const least = "minimum min smallest lowest smaller lower less".split(" ");
  return Object.fromEntries([...most.map((word) => [word, "max"]), ...least.map((word) => [word, "min"])]);
}

/** `Calculate 5 + 3`, `multiply the result by 4`: with a tool that calculates where one was chosen. */
export const readCalculation: Production = (step, plan) => {
  const arithmetic = readArithmetic(step.span, plan);
  if (arithmetic === undefined || arithmetic.kind === "number" || arithmetic.kind === "reference")
    return readSeveral(step, plan);
  const isKnown = references(arithmetic) > 0;
  return {
    kind: "calculate",
    rank: RANK.tool + (isKnown ? 0.3 : 0.2),
    lower: () => declare(arithmetic, step, plan),
  };
};

function declare(arithmetic: Arithmetic, step: Step, plan: Plan): void {
  const source = sourceField(arithmetic);
  const { expression, schema } = withTool(arithmetic, step, plan) ?? {
    expression: toExpression(arithmetic),
    schema: NUMBER,
  };
  const declared = plan.declare(expression, {
    words: source === undefined ? resultName(arithmetic) : `next ${source}`,
    schema,
  });
  if (source !== undefined) declared.source = source;
  declared.constant = evaluate(arithmetic);
  declared.formula = formula(arithmetic);
}

function references(arithmetic: Arithmetic): number {
  if (arithmetic.kind === "reference") return 1;
  if (arithmetic.kind === "number") return 0;
  if (arithmetic.kind === "operation") return references(arithmetic.left) + references(arithmetic.right);
  return references(arithmetic.value);
}

/** `calculate 2 + 3 and 4 * 5`: one result each. */
function readSeveral(step: Step, plan: Plan): Reading | undefined {
  const parts = SEVERAL.match(step.span)?.span("list").list ?? [];
  const found = parts.map((part) => readArithmetic(part, plan));
  if (parts.length < 2 || parts.length > 50 || !found.every((one) => one !== undefined)) return undefined;
  return {
    kind: "calculate",
    rank: RANK.plain,
    lower() {
      for (const arithmetic of found) declare(arithmetic, step, plan);
    },
  };
}

/** `Take 20`: a number that the next steps work on. */
export const readStart: Production = ({ span }, plan) => {
  const value = START.match(span)?.number("value");
  if (value === undefined) return undefined;
  return {
    kind: "start",
    rank: RANK.plain + 0.5,
    lower: () => void (plan.declare(literal(value), { words: "number", schema: NUMBER }).constant = value),
  };
};

/** `the maximum of 4, 19 and 7`, `which is bigger, 17 * 3 or 7 * 8?` */
export const readExtreme: Production = ({ span }, plan) => {
  for (const pattern of EXTREMES) {
    for (const match of pattern.matches(span)) {
      const values = match.span("list").list.map((part: Span) => operand(part, plan));
      if (values.length < 2 || values.length > 500 || !values.every((one) => one !== undefined)) continue;
      const kind = match.meaning("kind");
      const lower = (): void => {
        const extreme = call(member(name("Math"), kind), ...values.map(toExpression));
        plan.declare(extreme, { words: kind === "min" ? "minimum" : "maximum", schema: NUMBER });
      };
      return { kind: "extreme", rank: RANK.plain + 0.5, lower };
    }
  }
  return undefined;
};

/** `Is 7 greater than 5?` */
export const readQuestion: Production = ({ span }, plan) => {
  const tests = QUESTIONS.flatMap((pattern) => [...pattern.matches(span)]);
  const found = tests.map((match) => readTest(match.span("test"), plan)).find((test) => test !== undefined);
  if (found === undefined) return undefined;
  return {
    kind: "question",
    rank: RANK.plain + 0.85,
    lower: () => void plan.declare(found.lower(), { words: "answer", schema: { type: "boolean" } }),
  };
};

/** The field of the open file that a step like `result + 1` moves on. */
function sourceField(arithmetic: Arithmetic): string | undefined {
  if (
    arithmetic.kind !== "operation" ||
    arithmetic.left.kind !== "reference" ||
    arithmetic.right.kind !== "number"
  )
    return undefined;
  const { value, expression } = arithmetic.left.reference;
  return value.document !== undefined && expression.kind === "member" ? expression.key : undefined;
}

const TOOL_WORDS: Readonly<Record<Operator, readonly string[]>> = {
  "+": ["add", "sum", "plus", "addition"],
  "-": ["subtract", "minus", "difference", "subtraction"],
  "*": ["multiply", "times", "product", "multiplication"],
  "/": ["divide", "division", "quotient"],
  "**": ["power", "pow", "exponentiate"],
  "%": ["modulo", "mod", "remainder"],
};

interface ToolExpression {
  expression: Expression;
  schema: JsonSchema;
}

/** A tool for the one operation that is named in words, else one that evaluates a formula. */
function withTool(arithmetic: Arithmetic, { span }: Step, plan: Plan): ToolExpression | undefined {
  const evaluating = plan.tools.find(
    (tool) =>
      givesNumber(tool) && readParameters(tool).some((one) => one.role === "expression" && one.isRequired),
  );
  const hasSigns = span.tokens.some((token) => /^[-+*/^]$/u.test(token.lower));
  const named = evaluating === undefined || !hasSigns ? pairTool(arithmetic, plan.tools) : undefined;
  if (named !== undefined && arithmetic.kind === "operation") {
    const [first, second] = readParameters(named);
    const args = new Map([
      [first?.name ?? "a", toExpression(arithmetic.left)],
      [second?.name ?? "b", toExpression(arithmetic.right)],
    ]);
    return { expression: plan.callTool(named, args), schema: named.outputSchema ?? NUMBER };
  }
  const text = formula(arithmetic);
  const parameter = evaluating && readParameters(evaluating).find((one) => one.role === "expression");
  if (evaluating === undefined || parameter === undefined || text === undefined) return undefined;
  const expression = plan.callTool(evaluating, new Map([[parameter.name, literal(text)]]));
  return { expression, schema: evaluating.outputSchema ?? NUMBER };
}

/** What a tool without an output schema gives may be text, with which no step can calculate. */
function givesNumber({ outputSchema = {} }: ToolDefinition): boolean {
  return isNumeric(outputSchema) || propertiesOf(outputSchema).some(([, schema]) => isNumeric(schema));
}

function pairTool(arithmetic: Arithmetic, tools: readonly ToolDefinition[]): ToolDefinition | undefined {
  const isSimple = (part: Arithmetic): boolean => part.kind === "number" || part.kind === "reference";
  if (arithmetic.kind !== "operation" || !isSimple(arithmetic.left) || !isSimple(arithmetic.right))
    return undefined;
  return tools.find((tool) => {
    const required = readParameters(tool).filter((one) => one.isRequired);
    const isPair =
      givesNumber(tool) && required.length === 2 && required.every((one) => isNumeric(one.schema));
    return isPair && splitWords(tool.name).some((word) => TOOL_WORDS[arithmetic.operator].includes(word));
  });
}
