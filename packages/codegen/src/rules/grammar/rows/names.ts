import { textOf } from "../../language/token.ts";
import { MONTHS } from "@cem/text";
import { isPlainWord, PARTICLE } from "./literals.ts";
import type { Span, Token } from "../../language/token.ts";

const MAX_WORDS = 5;
const isTime = (word: string): boolean =>
  MONTHS.includes(word) || /day$|^(?:tonight|week|month|year|winter|summer|spring|autumn|fall)$/u.test(word);

/** `Oslo, Rome or Lima`: names and nothing else. */
export function readNames(span: Span): readonly string[] | undefined {
  const parts = span.split(
    (token) => /^(?:,|;|&|and|or|versus|vs)$/u.test(token.lower) && token.kind !== "quote",
  );
  const names = parts.map(readName);
  return names.length > 0 && names.every((one) => one !== undefined) ? names : undefined;
}

function readName(part: Span): string | undefined {
  const [lead] = part.tokens;
  const span = /^(?:in|at)$/u.test(lead?.lower ?? "") ? part.slice(1).trimmed : part;
  const { tokens } = span;
  const [first] = tokens;
  if (tokens.length === 1 && first?.kind === "quote") return textOf(first);
  if (tokens.length > MAX_WORDS || !tokens.every((token) => token.kind === "word")) return undefined;
  if (tokens.some((token) => isTime(token.lower))) return undefined;
  const isCapital = (token: Token | undefined): boolean => /^\p{Lu}/u.test(token?.text ?? "");
  const isName =
    isCapital(first) &&
    tokens.every((token) => isCapital(token) || PARTICLE.test(token.lower)) &&
    isCapital(tokens.at(-1));
  const isPlain = tokens.length <= 2 && tokens.every((token) => isPlainWord(token.lower));
  return tokens.length > 0 && (isName || isPlain) ? span.text : undefined;
}
