import type { Arithmetic, ArithmeticOperator } from "./arithmetic-types.ts";

const MAX_TOKENS = 500;

const WORD_OPERATORS: readonly [RegExp, string][] = [
  [/\bplus\b/giu, " + "],
  [/\bminus\b/giu, " - "],
  [/\b(?:times|multiplied by)\b/giu, " * "],
  [/\bdivided by\b|(?<=[\d)]\s?)\bover\b/giu, " / "],
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
  if (/sqrt$|root of$/iu.test(token)) {
    const value = readAtom(reader);
    return value === undefined ? undefined : { kind: "root", value };
  }
  if (token !== "(") return { kind: "reference", words: token };
  reader.depth += 1;
  const inner = reader.depth > 100 ? undefined : readSum(reader);
  reader.depth -= 1;
  if (reader.tokens[reader.at] !== ")") return undefined;
  reader.at += 1;
  return inner;
}
