import type { Phrase } from "../language/phrase.ts";
import { isSmall } from "../language/lexer.ts";
import { asNumber, partOf, referTo } from "../planning/references.ts";
import type { Plan } from "../planning/plan.ts";
import { isNumeric, type Value } from "../planning/value.ts";
import { call, binary, type Expression, literal } from "../program/expression.ts";

export interface Calculation {
  expression: Expression;
  /** The number, unless it depends on a result of the run. */
  constant?: number | undefined;
  results: readonly { value: Value; field?: string | undefined }[];
  /** Whether floating-point arithmetic is exact: integers without division. */
  isExact: boolean;
  /** How many operations are nested; 0 for a single number or result. */
  depth: number;
  operator?: Operator;
}

export type Operator = "+" | "-" | "*" | "/" | "%" | "**";

/** Operators in words, longest first, with their precedence. */
const OPERATORS: readonly (readonly [string, Operator, number])[] = [
  ["to the power of", "**", 3],
  ["raised to", "**", 3],
  ["multiplied by", "*", 2],
  ["divided by", "/", 2],
  ["times", "*", 2],
  ["over", "/", 2],
  ["modulo", "%", 2],
  ["mod", "%", 2],
  ["plus", "+", 1],
  ["minus", "-", 1],
  ["**", "**", 3],
  ["^", "**", 3],
  ["*", "*", 2],
  ["x", "*", 2],
  ["/", "/", 2],
  ["%", "%", 2],
  ["+", "+", 1],
  ["-", "-", 1],
];
const MAX_DEPTH = 60;
const MAX_REFERENCE_WORDS = 3;

/** Creates a parser of calculations from the tokens of a phrase, one after another. */
export function createCalculationReader(phrase: Phrase, plan: Plan) {
  const tokens = phrase.tokens.filter((token) => !isSmall(token));
  let at = 0;
  let depth = 0;

  function skip(words: string): boolean {
    const parts = words.split(" ");
    if (!parts.every((word, offset) => isWord(at + offset, word))) return false;
    at += parts.length;
    return true;
  }

  function read(weakest = 1): Calculation | undefined {
    depth += 1;
    let left = depth > MAX_DEPTH ? undefined : readOperand();
    while (left !== undefined) {
      const before = at;
      const found = readOperator(weakest);
      if (found === undefined) break;
      const [operator, strength] = found;
      const right = read(operator === "**" ? strength : strength + 1);
      if (right === undefined) {
        at = before;
        break;
      }
      left = combine(left, operator, right);
    }
    depth -= 1;
    return left;
  }

  function readOperator(weakest: number): readonly [Operator, number] | undefined {
    for (const [words, operator, strength] of OPERATORS)
      if (strength >= weakest && skip(words)) return [operator, strength];
    return undefined;
  }

  function readOperand(): Calculation | undefined {
    const token = tokens[at];
    if (token === undefined) return undefined;
    if (skip("-")) return negate(read(3));
    if (skip("(")) {
      const inside = read();
      return inside !== undefined && skip(")") ? inside : undefined;
    }
    if (token.kind === "number" && typeof token.value === "number") {
      at += 1;
      return readPercent(numberOf(token.value));
    }
    return readReference();
  }

  /** `15% of 80` */
  function readPercent(share: Calculation): Calculation | undefined {
    const isPercent = skip("% of") || skip("percent of");
    if (!isPercent) return share;
    const whole = readOperand();
    return combine(combine(whole, "*", share), "/", numberOf(100));
  }

  function readReference(): Calculation | undefined {
    for (let length = MAX_REFERENCE_WORDS; length > 0; length -= 1) {
      const next = tokens.slice(at, at + length);
      if (next.length < length || !next.every(({ kind }) => kind === "word")) continue;
      const words = next.map(({ lower }) => lower).join(" ");
      const found = resultOf(words, plan);
      if (found === undefined) continue;
      at += length;
      return found;
    }
    return undefined;
  }

  function isWord(place: number, word: string): boolean {
    const token = tokens[place];
    return token !== undefined && token.kind !== "quote" && token.lower === word;
  }

  return { read, skip, isAtEnd: () => at >= tokens.length };
}

/** The number that words mean: an earlier result, or a part of one. */
function resultOf(words: string, plan: Plan): Calculation | undefined {
  // In a file `result` is a field.
  const field = plan.values.at(-1)?.document === undefined ? undefined : partOf([words], plan);
  const value = field === undefined ? referTo(words, plan) : undefined;
  if (value !== undefined && value.document === undefined) {
    const expression = isNumeric(value.schema) ? value.expression : call("numberOf", value.expression);
    return resultAs(expression, value);
  }
  if (/^(?:it|this|that|them|and|or|both|if|is|of|for)\b/u.test(words)) return undefined;
  const part = field ?? partOf([words], plan);
  if (part === undefined) return undefined;
  return resultAs(asNumber(part), part.value, part.key);
}

function negate(of: Calculation | undefined): Calculation | undefined {
  if (of === undefined) return undefined;
  if (of.depth === 0 && of.constant !== undefined) return numberOf(-of.constant);
  return combine(numberOf(0), "-", of);
}

export function numberOf(value: number): Calculation {
  return {
    expression: literal(value),
    constant: value,
    results: [],
    isExact: Number.isInteger(value),
    depth: 0,
  };
}

export function resultAs(expression: Expression, value: Value, field?: string): Calculation {
  return { expression, results: [{ value, field }], isExact: false, depth: 0 };
}

export function combine(
  left: Calculation | undefined,
  operator: Operator,
  right: Calculation | undefined,
): Calculation | undefined {
  if (left === undefined || right === undefined) return undefined;
  const [one, other] = [left.constant, right.constant];
  return {
    expression: binary(left.expression, operator, right.expression),
    constant: one === undefined || other === undefined ? undefined : EVALUATE[operator](one, other),
    results: [...left.results, ...right.results],
    isExact: operator !== "/" && left.isExact && right.isExact,
    depth: Math.max(left.depth, right.depth) + 1,
    operator,
  };
}

const EVALUATE: Readonly<Record<Operator, (left: number, right: number) => number>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
  "%": (left, right) => left % right,
  "**": (left, right) => left ** right,
};
