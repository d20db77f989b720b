import { digitize, readNumber } from "./phrase.ts";
import { readExpression } from "./expression.ts";
import type { Arithmetic, ArithmeticOperator } from "./arithmetic-types.ts";

const MAX_LISTED = 500;

/** Reads what a step asks to calculate, or undefined when it is no calculation as a whole. */
export function readArithmetic(step: string): Arithmetic | undefined {
  if (step.length > 4_000) return undefined;
  const text = digitize(step.trim().replace(/[?.!]+$/u, ""))
    .replace(/\s+(?:using|via)\s+.{1,60}$/iu, "")
    .replace(/\s*=\s*(?:[-\d.,]+|\?|what)?$/u, "");
  const phrase = text
    .replace(
      /^(?:please\s+)?(?:calculate|compute|evaluate|solve|work out|find|determine|figure out|what\s+is|what's|whats|how much is|how much are|get|give me|tell me|do|run|simplify)\b:?\s*/iu,
      "",
    )
    .replace(
      /^(?:(?:the\s+)?(?:result|value|answer|outcome|expression|calculation)\s+(?:of|to|for)\s+|the expression\s+|expression\s+)/iu,
      "",
    );
  return readPattern(phrase) ?? readExpression(phrase) ?? readInside(phrase);
}

/** A calculation inside other words: `the next step (result + 1)`, `the total: 3 * 4`. */
function readInside(phrase: string): Arithmetic | undefined {
  const bracket = /\(([^()]*[-+*/^%][^()]*)\)\s*$/u.exec(phrase)?.[1];
  const inside = bracket === undefined ? undefined : readExpression(bracket);
  if (inside !== undefined) return inside;
  const colon = /^[\p{L}\s]{1,60}:\s*(.+)$/u.exec(phrase)?.[1];
  return colon === undefined ? undefined : readExpression(colon);
}

const PATTERNS: readonly [RegExp, (parts: string[]) => Arithmetic | undefined][] = [
  [/^(?:the\s+)?(?:sum|total) of (.+)$/iu, ([list]) => fold("+", readList(list))],
  [/^(?:the\s+)?product of (.+)$/iu, ([list]) => fold("*", readList(list))],
  [/^(?:the\s+)?difference (?:between|of) (.+?) and (.+)$/iu, ([a, b]) => combine("-", a, b)],
  [/^(?:the\s+)?quotient of (.+?) and (.+)$/iu, ([a, b]) => combine("/", a, b)],
  [/^(?:the\s+)?(?:average|mean) of (.+)$/iu, ([list]) => average(readList(list))],
  [/^(?:the\s+)?(?:square root|sqrt) of (.+)$/iu, ([value]) => root(operand(value))],
  [/^(?:the\s+)?square of (.+)$/iu, ([value]) => combine("**", value, "2")],
  [/^(?:the\s+)?cube of (.+)$/iu, ([value]) => combine("**", value, "3")],
  [/^(?:the\s+)?remainder of (.+?) divided by (.+)$/iu, ([a, b]) => combine("%", a, b)],
  [/^([-\d.,]+)\s*(?:%|percent|per cent) of (.+)$/iu, ([a, b]) => percentOf(operand(a), operand(b))],
  [
    /^(?:increase|raise|grow) (.+?) by ([-\d.,]+)\s*(?:%|percent)$/iu,
    ([a, p]) => changeBy("+", operand(a), operand(p)),
  ],
  [
    /^(?:decrease|reduce|lower|discount) (.+?) by ([-\d.,]+)\s*(?:%|percent)$/iu,
    ([a, p]) => changeBy("-", operand(a), operand(p)),
  ],
  [/^(?:increase|increment|raise) (.+?) by (.+)$/iu, ([a, b]) => combine("+", a, b)],
  [/^(?:decrease|decrement|reduce) (.+?) by (.+)$/iu, ([a, b]) => combine("-", a, b)],
  [/^add (?:up )?(.+?) to (.+)$/iu, ([a, b]) => combine("+", b, a)],
  [/^(?:add|sum)(?: up| together)? (.+?)(?: together| up)?$/iu, ([list]) => addition(readList(list))],
  [/^(?:subtract|take|deduct) (.+?)(?: away)? from (.+)$/iu, ([a, b]) => combine("-", b, a)],
  [/^(?:subtract|deduct|minus) (.+)$/iu, ([b]) => combine("-", "it", b)],
  [/^multiply (.+?) (?:by|with|and|times) (.+)$/iu, ([a, b]) => combine("*", a, b)],
  [/^multiply (?:by )?(.+)$/iu, ([b]) => combine("*", "it", b)],
  [/^divide (.+?) by (.+)$/iu, ([a, b]) => combine("/", a, b)],
  [/^divide by (.+)$/iu, ([b]) => combine("/", "it", b)],
  [/^double (.+)$/iu, ([value]) => combine("*", value, "2")],
  [/^triple (.+)$/iu, ([value]) => combine("*", value, "3")],
  [/^quadruple (.+)$/iu, ([value]) => combine("*", value, "4")],
  [/^(?:halve|half of|half) (.+)$/iu, ([value]) => combine("/", value, "2")],
  [/^square (.+)$/iu, ([value]) => combine("**", value, "2")],
];

function readPattern(phrase: string): Arithmetic | undefined {
  for (const [pattern, read] of PATTERNS) {
    const match = pattern.exec(phrase);
    const found = match === null ? undefined : read(match.slice(1));
    if (found !== undefined) return found;
  }
  return undefined;
}

function addition(values: Arithmetic[] | undefined): Arithmetic | undefined {
  const [only, ...more] = values ?? [];
  if (only === undefined) return undefined;
  if (more.length > 0) return fold("+", values);
  if (only.kind === "reference") return undefined;
  return { kind: "operation", operator: "+", left: { kind: "reference", words: "it" }, right: only };
}

/** Reads `3, 4 and 5`. */
function readList(text: string | undefined): Arithmetic[] | undefined {
  const parts = (text ?? "")
    .split(/,(?!\d{3}\b)\s*(?:and\s+)?|\s+(?:and|with)\s+/iu)
    .filter((part) => part.trim() !== "");
  const values = parts.slice(0, MAX_LISTED).map(operand);
  return values.length > 0 && values.every((value) => value !== undefined) ? values : undefined;
}

function fold(operator: ArithmeticOperator, values: Arithmetic[] | undefined): Arithmetic | undefined {
  if (values === undefined || values.length < 2) return undefined;
  return values.reduce((left, right) => ({ kind: "operation", operator, left, right }));
}

function average(values: Arithmetic[] | undefined): Arithmetic | undefined {
  const sum = fold("+", values);
  return sum === undefined ? undefined : divide(sum, values?.length ?? 1);
}

function combine(
  operator: ArithmeticOperator,
  a: string | undefined,
  b: string | undefined,
): Arithmetic | undefined {
  const left = operand(a);
  const right = operand(b);
  return left === undefined || right === undefined ? undefined : { kind: "operation", operator, left, right };
}

function divide(value: Arithmetic, by: number): Arithmetic {
  return {
    kind: "operation",
    operator: "/",
    left: value,
    right: { kind: "number", value: by, text: String(by) },
  };
}

function root(value: Arithmetic | undefined): Arithmetic | undefined {
  return value === undefined ? undefined : { kind: "root", value };
}

function percentOf(percent: Arithmetic | undefined, of: Arithmetic | undefined): Arithmetic | undefined {
  if (percent === undefined || of === undefined) return undefined;
  return divide({ kind: "operation", operator: "*", left: of, right: percent }, 100);
}

function changeBy(
  sign: "+" | "-",
  value: Arithmetic | undefined,
  percent: Arithmetic | undefined,
): Arithmetic | undefined {
  const part = percentOf(percent, value);
  return part === undefined || value === undefined
    ? undefined
    : { kind: "operation", operator: sign, left: value, right: part };
}

/** A number, a calculation in brackets or signs, or the name of an earlier result. */
function operand(text: string | undefined): Arithmetic | undefined {
  const words = (text ?? "").trim();
  const bare = words
    .replace(/^(?:the )?numbers?\s+/iu, "")
    .replace(/\s*(?:together|dollars?|euros?|degrees?)$/iu, "");
  const number = readNumber(bare);
  if (number !== undefined) return { kind: "number", value: number, text: bare.replaceAll(",", "") };
  return readExpression(bare) ?? (isReference(bare) ? { kind: "reference", words: bare } : undefined);
}

function isReference(words: string): boolean {
  return /^(?:it|that|this|them|(?:the|this|that|its|their|both|all|previous|last|first|second|third)\s+[\p{L}_][\p{L}\p{N}_' ]{0,60}|[a-z]\w{0,40})$/iu.test(
    words,
  );
}
