import type { RankedTool, ToolDefinition } from "@cem/core";
import { isStopWord, splitWords, stem } from "@cem/core/text";
import { hasTerm, type LexicalIndex } from "../catalog/lexical-index.ts";
import { relatedTo } from "../words/synonyms.ts";
import { askedActions, NO_ACTIONS } from "../words/verbs.ts";
import { highest } from "./search-scorer.ts";
import { isRequestStem } from "./reading.ts";
import type { Ranks } from "./search-ranking.ts";

/** The share of the best score from which a tool is relevant. Chosen on the evaluation sets, like the other bounds. */
const SHARE_OF_BEST = { least: 0.1, most: 0.4 };
/** The coverage of the best tool at which each of these shares is reached. */
const COVER_OF_BEST = { least: 0.25, most: 0.45 };
/** Minimum share of the text that the best tool must explain. */
const LEAST_EXPLAINED = 0.085;
/** If it explains less than this, a word or two may match by chance. */
export const CLOSE_EXPLAINED = 0.18;
/** Sets the scores of tools far behind the best to 0; all if even the best one explains too little of the text. */
export function keepRelevant({ scores, explained }: Ranks, named: ReadonlySet<number>): Float32Array {
  const isExplained = explained >= LEAST_EXPLAINED || named.size > 0;
  if (!isExplained) return new Float32Array(scores.length);
  const top = highest(scores);
  const least = top * shareOfBest(top);
  return scores.map((score) => (score >= least ? score : 0));
}

function shareOfBest(cover: number): number {
  const { least, most } = COVER_OF_BEST;
  const sureness = Math.min(1, Math.max(0, (cover - least) / (most - least)));
  return SHARE_OF_BEST.least + (SHARE_OF_BEST.most - SHARE_OF_BEST.least) * sureness;
}

const NAMED_SCORE = 0.9;
const UNNAMED_SCORE = 0.89;
const MAX_REASON_WORDS = 4;
const SCORE_DIGITS = 4;

export const NAMED_REASON = "named in the task";
export const MEANING_REASON = "close in meaning";
const SPELLED_ALIKE = "spelled alike";

/** Ranks the documents with a score. `otherwise`: the reason for those without a word of the text. */
export function rankAll(
  index: LexicalIndex,
  given: Float32Array,
  named: ReadonlySet<number>,
  text: string,
  limit: number,
  otherwise: string = SPELLED_ALIKE,
): RankedTool[] {
  const scores = given.map((score) => score * UNNAMED_SCORE);
  for (const document of named) scores[document] = NAMED_SCORE + (1 - NAMED_SCORE) * (scores[document] ?? 0);
  const telling = tellingWords(text);
  return best(scores, limit).flatMap((document) =>
    ranked(
      index,
      document,
      scores[document] ?? 0,
      named.has(document) ? NAMED_REASON : matchReason(index, document, telling, otherwise),
    ),
  );
}

const MAX_OBJECTS = 2;

/** Whether a tool fits only the action of a short text: for `delete a file`, a tool that deletes something else. */
export function fitsActionAlone(index: LexicalIndex, tool: ToolDefinition, text: string): boolean {
  const words = tellingWords(text);
  const verb = words.find((word) => askedActions(word) !== NO_ACTIONS);
  const objects = words.filter((word) => word !== verb).map(stem);
  if (objects.length === 0 || objects.length > MAX_OBJECTS) return false;
  const document = index.tools.indexOf(tool);
  const meant = objects.flatMap((word) => [word, ...relatedTo(word)]);
  return !meant.some((word) => knows(index, document, word));
}

/** The documents with the highest scores above 0, best first; equal scores in document order. */
export function best(scores: Float32Array, limit: number): number[] {
  const found: number[] = [];
  for (let document = 0; document < scores.length; document++) {
    const score = scores[document] ?? 0;
    const last = found.length < limit ? 0 : (scores[found.at(-1) ?? -1] ?? Infinity);
    if (score > last) {
      let at = found.length;
      while (at > 0 && (scores[found[at - 1] ?? 0] ?? 0) < score) at -= 1;
      found.splice(at, 0, document);
      if (found.length > limit) found.pop();
    }
  }
  return found;
}

/** The distinct words of a text, without those that fit any tool. */
export function tellingWords(text: string): string[] {
  const words = splitWords(text).filter((word) => !isStopWord(word) && !isRequestStem(stem(word)));
  return [...new Set(words)];
}

/** A ranked tool with its rounded score; empty when there is no such document. */
export function ranked(index: LexicalIndex, document: number, score: number, reason: string): RankedTool[] {
  const tool = index.tools[document];
  return tool === undefined ? [] : [{ tool, score: Number(score.toFixed(SCORE_DIGITS)), reason }];
}

/** Phrases a reason from the {@link tellingWords} in a document: `matches "weather", "city"`. */
export function matchReason(
  index: LexicalIndex,
  document: number,
  telling: readonly string[],
  otherwise: string = SPELLED_ALIKE,
): string {
  const words = telling.filter((word) => knows(index, document, stem(word))).slice(0, MAX_REASON_WORDS);
  return words.length > 0 ? `matches ${words.map((word) => JSON.stringify(word)).join(", ")}` : otherwise;
}

function knows(index: LexicalIndex, document: number, word: string): boolean {
  const term = index.vocabulary.find(word);
  return term !== undefined && hasTerm(index, document, term);
}
