import type { RankedTool } from "@cem/core";
import { isStopWord, splitWords, stem } from "@cem/core/text";
import type { LexicalIndex } from "./lexical-index.ts";
import type { NamedTools } from "./named-tools.ts";
import { highest } from "./ranking.ts";
import { isRequestStem } from "./query.ts";

/** The lowest score of a tool that is named in the text. */
const NAMED_SCORE = 0.9;
/** The highest score of a tool that is not named. */
const UNNAMED_SCORE = 0.89;
/** The gain of a tool named in plain words, as a share of the best score. */
const SPOKEN_NAME_GAIN = 0.15;
const MAX_REASON_WORDS = 4;
const SCORE_DIGITS = 4;

/** The reason for a tool that is named in the text. */
export const NAMED_REASON = "named in the task";
/** The reason for a tool found by its embedding alone. */
export const MEANING_REASON = "close in meaning";
const SPELLED_ALIKE = "spelled alike";

/**
 * Ranks the documents with a score, best first; equal scores in the order of their ids.
 *
 * @param given - Scores by document, 0 to 1.
 * @param otherwise - The reason for those without a word of the text.
 */
export function rankAll(
  index: LexicalIndex,
  given: Float32Array,
  named: NamedTools,
  text: string,
  limit: number,
  otherwise: string = SPELLED_ALIKE,
): RankedTool[] {
  const scores = new Float32Array(given.length);
  for (let document = 0; document < scores.length; document++) {
    scores[document] = (given[document] ?? 0) * UNNAMED_SCORE;
  }
  const top = highest(scores);
  for (const document of named.spoken) {
    scores[document] = Math.min(UNNAMED_SCORE, (scores[document] ?? 0) + SPOKEN_NAME_GAIN * top);
  }
  for (const document of named.written) {
    scores[document] = NAMED_SCORE + (1 - NAMED_SCORE) * (scores[document] ?? 0);
  }
  const telling = tellingWords(text);
  return best(scores, limit).flatMap((document) =>
    ranked(
      index,
      document,
      scores[document] ?? 0,
      named.written.has(document) || named.spoken.has(document)
        ? NAMED_REASON
        : matchReason(
            telling.filter((word) => knows(index, document, stem(word))),
            [],
            otherwise,
          ),
    ),
  );
}

/** The documents with the highest scores above 0, best first; equal scores in document order. */
function best(scores: Float32Array, limit: number): number[] {
  const found: number[] = [];
  for (let document = 0; document < scores.length; document++) {
    const score = scores[document] ?? 0;
    const last = found.length < limit ? 0 : (scores[found.at(-1) ?? -1] ?? Infinity);
    if (score > last) {
      let at = found.length;
      while (at > 0 && (scores[found[at - 1] ?? 0] ?? 0) < score) at -= 1;
      found.splice(at, 0, document);
      found.length = Math.min(found.length, limit);
    }
  }
  return found;
}

/** The words of a text that a document has, without stop words. */
export function knownWords(index: LexicalIndex, document: number, text: string): string[] {
  return tellingWords(text).filter((word) => knows(index, document, stem(word)));
}

function tellingWords(text: string): string[] {
  const words = splitWords(text).filter((word) => !isStopWord(word) && !isRequestStem(stem(word)));
  return [...new Set(words)];
}

/** A ranked tool with its rounded score; empty when there is no such document. */
export function ranked(index: LexicalIndex, document: number, score: number, reason: string): RankedTool[] {
  const tool = index.tools[document];
  return tool === undefined ? [] : [{ tool, score: Number(score.toFixed(SCORE_DIGITS)), reason }];
}

/** Words a reason: `matches "weather", "city"; the path /workspace/a.txt`. */
export function matchReason(
  words: readonly string[],
  hints: readonly string[] = [],
  otherwise: string = SPELLED_ALIKE,
): string {
  const quoted = words.slice(0, MAX_REASON_WORDS).map((word) => JSON.stringify(word));
  const matches = quoted.length > 0 ? [`matches ${quoted.join(", ")}`] : [];
  return [...matches, ...hints].join("; ") || otherwise;
}

/** Whether a document has a stem, by binary search in its postings. */
function knows(index: LexicalIndex, document: number, word: string): boolean {
  const term = index.vocabulary.find(word);
  if (term === undefined) {
    return false;
  }
  let low = index.starts[term] ?? 0;
  let high = index.starts[term + 1] ?? 0;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((index.documents[middle] ?? 0) < document) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < (index.starts[term + 1] ?? 0) && index.documents[low] === document;
}
