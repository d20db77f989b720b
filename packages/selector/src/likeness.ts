import type { RankedTool } from "@cem/core";
import { splitStems } from "@cem/core/text";
import { GramIndex } from "./gram-index.ts";
import type { LexicalIndex } from "./lexical-index.ts";
import { ranked } from "./results.ts";

const MAX_TEXT_CHARACTERS = 1_000;
/** The highest score by similar letters. Below every threshold, so that no tool is selected by it. */
const MAX_LIKENESS_SCORE = 0.2;

/** In larger catalogs only names are compared, not descriptions. */
const MAX_DESCRIBED_TOOLS = 200;

const indexes = new WeakMap<LexicalIndex, GramIndex>();

/**
 * Finds the tools with the most similar spelling, for when no word matches.
 *
 * @param without - Documents to leave out.
 */
export function likeness(
  index: LexicalIndex,
  text: string,
  without: ReadonlySet<number>,
  limit: number,
): RankedTool[] {
  const words = wordsOf(text);
  if (limit <= 0 || words.length === 0) {
    return [];
  }
  const grams = indexes.get(index) ?? new GramIndex(textsOf(index).map(wordsOf));
  indexes.set(index, grams);
  return grams
    .alike(words, 0)
    .filter(({ text: document }) => !without.has(document))
    .toSorted((one, other) => other.similarity - one.similarity || one.text - other.text)
    .slice(0, limit)
    .flatMap(({ text: document, similarity }) =>
      ranked(index, document, similarity * MAX_LIKENESS_SCORE, "spelled alike"),
    );
}

function textsOf({ tools }: LexicalIndex): string[] {
  const isLarge = tools.length > MAX_DESCRIBED_TOOLS;
  return tools.map(({ server, name, description }) =>
    isLarge ? `${server} ${name}` : `${server} ${name} ${description}`,
  );
}

function wordsOf(text: string): string[] {
  return splitStems(text.slice(0, MAX_TEXT_CHARACTERS));
}
