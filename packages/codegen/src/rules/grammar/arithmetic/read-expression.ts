import type { Span, Token } from "../../language/token.ts";
import type { Plan } from "../../planning/plan.ts";
import { findReference } from "../../planning/references.ts";
import { type Arithmetic, number, type Operator, operation } from "./arithmetic.ts";

const MAX_TOKENS = 500;
const MAX_DEPTH = 100;

/** Operators in signs and words, the longest first. */
const OPERATORS: readonly (readonly [words: readonly string[], operator: Operator])[] = (
  [
    ["raised to the power of", "**"],
    ["to the power of", "**"],
    ["multiplied by", "*"],
    ["divided by", "/"],
    ["raised to", "**"],
    ["plus", "+"],
    ["minus", "-"],
    ["times", "*"],
    ["over", "/"],
    ["modulo", "%"],
    ["mod", "%"],
    ["x", "*"],
    ["+", "+"],
    ["-", "-"],
    ["*", "*"],
    ["/", "/"],
    ["%", "%"],
    ["^", "**"],
    ["**", "**"],
  ] as const
).map(([words, operator]) => [words.split(" "), operator]);
const LEVEL: Readonly<Record<Operator, number>> = { "+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "**": 4 };
/** Signs after a value. */
const AFTER = new Map([
  ["squared", 2],
  ["cubed", 3],
  ["²", 2],
  ["³", 3],
]);

interface Reader {
  tokens: readonly Token[];
  span: Span;
  plan: Plan;
  at: number;
  depth: number;
}

/**
 * Reads signs, numbers, brackets and earlier results, as a whole: `(3 + 4) * the result`.
 *
 * @param needsOperator - Whether a lone number or result is none.
 */
export function readExpression(span: Span, plan: Plan, needsOperator = true): Arithmetic | undefined {
  const { trimmed } = span;
  if (trimmed.isEmpty || trimmed.length > MAX_TOKENS) return undefined;
  const reader: Reader = { tokens: trimmed.tokens, span: trimmed, plan, at: 0, depth: 0 };
  const found = readBinary(reader, 0);
  if (found === undefined || reader.at < reader.tokens.length) return undefined;
  const isLone = found.kind === "number" || found.kind === "reference";
  return isLone && needsOperator ? undefined : found;
}

/** Reads operators that bind at least as strongly as a level. */
function readBinary(reader: Reader, level: number): Arithmetic | undefined {
  let left = readUnary(reader);
  for (;;) {
    const found = operatorAt(reader);
    if (left === undefined || found === undefined || LEVEL[found.operator] < level) return left;
    const { operator } = found;
    reader.at += found.length;
    const right = readBinary(reader, operator === "**" ? LEVEL[operator] : LEVEL[operator] + 1);
    if (right === undefined) return undefined;
    left = operation(operator, left, right);
  }
}

function operatorAt({ tokens, at }: Reader): { operator: Operator; length: number } | undefined {
  const token = tokens[at];
  if (token === undefined || token.kind === "quote") return undefined;
  const found = OPERATORS.find(([words]) => words.every((word, place) => tokens[at + place]?.lower === word));
  // `10 over 2` divides; `everyone over 40` compares.
  const before = tokens[at - 1];
  if (found === undefined || (token.lower === "over" && before?.kind !== "number" && before?.lower !== ")"))
    return undefined;
  return { operator: found[1], length: found[0].length };
}

function readUnary(reader: Reader): Arithmetic | undefined {
  const sign = reader.tokens[reader.at]?.lower;
  if (sign !== "-" && sign !== "+" && sign !== "minus" && sign !== "negative") return readPostfix(reader);
  reader.at += 1;
  reader.depth += 1;
  const value = reader.depth > MAX_DEPTH ? undefined : readBinary(reader, 3);
  reader.depth -= 1;
  if (value === undefined || sign === "+") return value;
  return value.kind === "number" ? number(-value.value, `-${value.text}`) : { kind: "negate", value };
}

function readPostfix(reader: Reader): Arithmetic | undefined {
  let value = readAtom(reader);
  for (;;) {
    const power = AFTER.get(reader.tokens[reader.at]?.lower ?? "");
    if (value === undefined || power === undefined) return value;
    reader.at += 1;
    value = operation("**", value, number(power));
  }
}

function readAtom(reader: Reader): Arithmetic | undefined {
  const token = reader.tokens[reader.at];
  if (token === undefined) return undefined;
  if (token.kind === "number") {
    reader.at += 1;
    if (isPercentOf(reader)) return readPercentOf(reader, token.value as number);
    return number(token.value as number, token.text.replaceAll(/[$€£,]/gu, ""));
  }
  if (token.lower === "(") return readBrackets(reader);
  if (token.lower === "sqrt" || startsWith(reader, ["square", "root", "of"])) {
    reader.at += token.lower === "sqrt" ? 1 : 3;
    if (reader.tokens[reader.at]?.lower === "of") reader.at += 1;
    const value = readAtom(reader);
    return value && { kind: "root", value };
  }
  return readResult(reader);
}

/** `20% of 150`: binds as strongly as a sign. */
function isPercentOf(reader: Reader): boolean {
  return ["%", "percent"].some((word) => startsWith(reader, [word, "of"]));
}

function readPercentOf(reader: Reader, percent: number): Arithmetic | undefined {
  reader.at += 2;
  const value = readUnary(reader);
  return value && operation("/", operation("*", value, number(percent)), number(100));
}

function startsWith({ tokens, at }: Reader, words: readonly string[]): boolean {
  return words.every((word, place) => tokens[at + place]?.lower === word);
}

function readBrackets(reader: Reader): Arithmetic | undefined {
  reader.at += 1;
  reader.depth += 1;
  const inner = reader.depth > MAX_DEPTH ? undefined : readBinary(reader, 0);
  reader.depth -= 1;
  if (reader.tokens[reader.at]?.lower !== ")") return undefined;
  reader.at += 1;
  return inner;
}

/** The words up to the next operator or bracket: an earlier result, or nothing. */
function readResult(reader: Reader): Arithmetic | undefined {
  const start = reader.at;
  let end = start;
  while (end < reader.tokens.length && reader.tokens[end]?.kind === "word") {
    if (
      end > start &&
      (operatorAt({ ...reader, at: end }) !== undefined || AFTER.has(reader.tokens[end]?.lower ?? ""))
    )
      break;
    end += 1;
  }
  if (end === start) return undefined;
  const reference = findReference(reader.span.slice(start, end).text, reader.plan, "number");
  if (reference === undefined) return undefined;
  reader.at = end;
  return { kind: "reference", reference };
}
