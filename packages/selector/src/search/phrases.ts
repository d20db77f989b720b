import type { ToolDefinition } from "@cem/core";
import { splitStems } from "@cem/core/text";
import { hasTerm, type LexicalIndex } from "../catalog/lexical-index.ts";
import { isRequestStem } from "./reading.ts";

/** Gain of a tool that contains all phrases of the text. Tuned over all evaluation sets together, like the other weights. */
const PHRASE_WEIGHT = 0.5;
/** Number of words after a word that form a phrase with it, without stop words. */
const WINDOW_WORDS = 2;
const LEAST_SHARE = 0.3;
const MAX_TEXT_CHARACTERS = 200;
const MAX_QUERY_WORDS = 256;

/** Raises the scores, of which the highest is 1, of documents with the same phrases as a text, in any order: `stock price`. */
export function addPhraseGains(index: LexicalIndex, scores: Float32Array, text: string): void {
  const stems = splitStems(text).filter((word) => !isRequestStem(word));
  const wanted = pairsOf(index, stems.slice(0, MAX_QUERY_WORDS));
  if (wanted.size === 0) return;
  let ideal = 0;
  for (const word of new Set(stems)) ideal += rarityOf(index, index.vocabulary.find(word));
  for (let document = 0; document < scores.length; document++) {
    const score = scores[document] ?? 0;
    if (score < LEAST_SHARE) continue;
    // Few documents contain both words of a phrase, and the texts of the others need not be read.
    const present = [...wanted].filter(([pair]) => hasBoth(index, document, pair));
    if (present.length === 0) continue;
    const pairs = pairsOfDocument(index, document);
    const found = present.reduce((sum, [pair, rarity]) => (pairs.has(pair) ? sum + rarity : sum), 0);
    if (found > 0) scores[document] = score + PHRASE_WEIGHT * Math.min(1, found / ideal);
  }
}

function hasBoth(index: LexicalIndex, document: number, pair: number): boolean {
  const { size } = index.vocabulary;
  return [Math.floor(pair / size), pair % size].every((term) => hasTerm(index, document, term));
}

function pairsOfDocument(index: LexicalIndex, document: number): ReadonlySet<number> {
  const tool = index.tools[document];
  const pairs = new Set<number>();
  for (const text of tool === undefined ? [] : textsOf(tool)) {
    for (const pair of pairsOf(index, splitStems(text)).keys()) pairs.add(pair);
  }
  return pairs;
}

/** The pairs of words that occur together, each as one number, with their rarity. */
function pairsOf(index: LexicalIndex, stems: readonly string[]): Map<number, number> {
  const { vocabulary } = index;
  const terms = stems.map((word) => vocabulary.find(word));
  const pairs = new Map<number, number>();
  for (const [at, first] of terms.entries()) {
    if (first === undefined) continue;
    for (const second of terms.slice(at + 1, at + 1 + WINDOW_WORDS)) {
      if (second === undefined || second === first) continue;
      const pair = Math.min(first, second) * vocabulary.size + Math.max(first, second);
      pairs.set(pair, Math.max(rarityOf(index, first), rarityOf(index, second)));
    }
  }
  return pairs;
}

function rarityOf(index: LexicalIndex, term: number | undefined): number {
  return term === undefined ? 0 : (index.inverseFrequency[term] ?? 0);
}

function textsOf({ server, name, description, annotations }: ToolDefinition): string[] {
  return [`${server} ${name}`, annotations?.title ?? "", description.slice(0, MAX_TEXT_CHARACTERS)];
}
