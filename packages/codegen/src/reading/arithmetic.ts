import { digitize, readNumber } from "./phrase.ts";

/** A calculation as the text states it. `reference` names an earlier result in the user's words. */
export type Arithmetic =
  | { kind: "number"; value: number; text: string }
  | { kind: "reference"; words: string }
  | { kind: "negate"; value: Arithmetic }
  | { kind: "operation"; operator: ArithmeticOperator; left: Arithmetic; right: Arithmetic }
  | { kind: "root"; value: Arithmetic };

export type ArithmeticOperator = "+" | "-" | "*" | "/" | "%" | "**";

const MAX_TOKENS = 500;

const WORD_OPERATORS: readonly [RegExp, string][] = [
  [/\bplus\b/giu, " + "],
  [/\bminus\b/giu, " - "],
  [/\b(?:times|multiplied by)\b/giu, " * "],
  [/\b(?:divided by|over)\b/giu, " / "],
  [/\b(?:to the power of|raised to(?: the power of)?)\b/giu, " ^ "],
  [/\b(?:modulo|mod)\b/giu, " % "],
  [/\bsquared\b/giu, " ^ 2"],
  [/\bcubed\b/giu, " ^ 3"],
  [/(?<=\d)\s*x\s*(?=\d)/giu, " * "],
  [/×|·|∗/gu, "*"],
  [/÷/gu, "/"],
  [/−|–/gu, "-"],
  [/\*\*/gu, "^"],
];

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
  const values = parts.slice(0, MAX_TOKENS).map(operand);
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

/** Parses signs, numbers, brackets and names of results; the whole text or nothing. */
export function readExpression(text: string): Arithmetic | undefined {
  let plain = text;
  for (const [pattern, sign] of WORD_OPERATORS) plain = plain.replaceAll(pattern, sign);
  const tokens = tokenize(plain);
  if (tokens === undefined || tokens.length < 2 || tokens.length > MAX_TOKENS) return undefined;
  const reader = { tokens, at: 0, depth: 0 };
  const found = readSum(reader);
  return reader.at === tokens.length && found?.kind !== "reference" ? found : undefined;
}

interface TokenReader {
  tokens: readonly string[];
  at: number;
  depth: number;
}

const TOKEN =
  /\s*(?:(\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+)|([-+*/^%()])|((?:the\s+)?(?:sqrt|square root of|[\p{L}_][\p{L}\p{N}_]*(?:\s+(?:result|value|total|sum|price|temperature)\b)?)))\s*/uy;

function tokenize(text: string): string[] | undefined {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  const trimmed = text.trim();
  while (TOKEN.lastIndex < trimmed.length) {
    const match = TOKEN.exec(trimmed);
    if (match === null || tokens.length > MAX_TOKENS) return undefined;
    tokens.push(match[1]?.replaceAll(",", "") ?? match[2] ?? match[3] ?? "");
  }
  return tokens.some((token) => /^[-+*/^%]$|^sqrt|root of$/u.test(token)) ? tokens : undefined;
}

function readSum(reader: TokenReader): Arithmetic | undefined {
  return readChain(reader, /^[-+]$/u, readProduct);
}

function readProduct(reader: TokenReader): Arithmetic | undefined {
  return readChain(reader, /^[*/%]$/u, readUnary);
}

function readChain(
  reader: TokenReader,
  operators: RegExp,
  next: (reader: TokenReader) => Arithmetic | undefined,
): Arithmetic | undefined {
  let left = next(reader);
  for (;;) {
    const token = reader.tokens[reader.at];
    if (left === undefined || token === undefined || !operators.test(token)) return left;
    reader.at += 1;
    const right = next(reader);
    if (right === undefined) return undefined;
    left = { kind: "operation", operator: token as ArithmeticOperator, left, right };
  }
}

function readUnary(reader: TokenReader): Arithmetic | undefined {
  const token = reader.tokens[reader.at];
  if (token !== "-" && token !== "+") return readPower(reader);
  reader.at += 1;
  const value = readUnary(reader);
  if (value === undefined || token === "+") return value;
  return value.kind === "number"
    ? { kind: "number", value: -value.value, text: `-${value.text}` }
    : { kind: "negate", value };
}

function readPower(reader: TokenReader): Arithmetic | undefined {
  const left = readAtom(reader);
  if (left === undefined || reader.tokens[reader.at] !== "^") return left;
  reader.at += 1;
  const right = readUnary(reader);
  return right === undefined ? undefined : { kind: "operation", operator: "**", left, right };
}

function readAtom(reader: TokenReader): Arithmetic | undefined {
  const token = reader.tokens[reader.at];
  if (token === undefined || /^[-+*/^%)]$/u.test(token)) return undefined;
  reader.at += 1;
  if (/^[\d.]/u.test(token)) return { kind: "number", value: Number(token), text: token };
  if (/sqrt$|root of$/iu.test(token)) return root(readAtom(reader));
  if (token !== "(") return { kind: "reference", words: token };
  reader.depth += 1;
  const inner = reader.depth > 100 ? undefined : readSum(reader);
  reader.depth -= 1;
  if (reader.tokens[reader.at] !== ")") return undefined;
  reader.at += 1;
  return inner;
}

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
