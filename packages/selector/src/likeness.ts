import type { RankedTool } from "@cem/core";
import { characterNgrams, splitStems } from "@cem/text";
import type { LexicalIndex } from "./lexical-index.ts";
import { ranked } from "./results.ts";

const GRAM_SIZE = 3;
const MAX_TEXT_CHARACTERS = 1_000;
/** Likeness of letters says little: it is shown, and never enough to choose a tool. */
const MAX_LIKENESS_SCORE = 0.2;

/** Of more tools, only the names are compared. */
const MAX_DESCRIBED_TOOLS = 200;

/** The tools whose letters are the most like a text's, for when no word is shared. */
export function likeness(
  index: LexicalIndex,
  text: string,
  without: ReadonlySet<number>,
  limit: number,
): RankedTool[] {
  if (limit <= 0) {
    return [];
  }
  const wanted = grams(text);
  const isLarge = index.tools.length > MAX_DESCRIBED_TOOLS;
  const scored = index.tools.flatMap((tool, document) => {
    if (without.has(document)) {
      return [];
    }
    const offered = grams(
      isLarge ? `${tool.server} ${tool.name}` : `${tool.server} ${tool.name} ${tool.description}`,
    );
    const shared = [...wanted].filter((gram) => offered.has(gram)).length;
    return [{ document, score: (2 * shared) / (wanted.size + offered.size || 1) }];
  });
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score || one.document - other.document)
    .slice(0, limit)
    .flatMap(({ document, score }) => ranked(index, document, score * MAX_LIKENESS_SCORE, "spelled alike"));
}

function grams(text: string): Set<string> {
  return new Set(
    splitStems(text.slice(0, MAX_TEXT_CHARACTERS)).flatMap((word) => characterNgrams(word, GRAM_SIZE)),
  );
}
