import { FitJudge } from "./fit.ts";
import type { LexicalIndex } from "./lexical-index.ts";
import type { NamedTools } from "./named-tools.ts";
import { partsOf } from "./parts.ts";
import { highest } from "./ranking.ts";
import { readPart } from "./reading.ts";
import type { Ranks } from "./search-ranking.ts";

/**
 * The share of the best score from which a tool is relevant: the more of the text the best tool covers, the more a good
 * answer is known to stand out. Chosen on the evaluation sets so that the recall of the first five and ten stays within
 * 0.2 points of the uncut ranking, like the other bounds.
 */
const SHARE_OF_BEST = { least: 0.1, most: 0.4 };
/** The cover of the best tool at which each of these shares is reached. */
const COVER_OF_BEST = { least: 0.25, most: 0.45 };
/** The least share for tools of servers that have none with half of the best score. */
const STRANGER_SHARE = 0.25;
const NEAR_SERVER_SHARE = 0.5;
/** The share of the text that the best tool must explain. */
const LEAST_EXPLAINED = 0.085;
/** Else one of the best tools must fit a part of the text as well as those that are selected for tasks do. */
const LEAST_FIT = 0.45;
const MAX_JUDGED_TOOLS = 10;

/**
 * Drops the tools that are not relevant to a text: all where even the best one explains too little of it, else those far
 * behind the best.
 *
 * @returns The scores by document, 0 for one that is not relevant.
 */
export function keepRelevant(
  index: LexicalIndex,
  text: string,
  { scores, explained }: Ranks,
  { written, spoken }: NamedTools,
): Float32Array {
  const isExplained = explained >= LEAST_EXPLAINED || written.size + spoken.size > 0;
  if (!isExplained && !anyFits(index, text, scores)) return new Float32Array(scores.length);
  const top = highest(scores);
  const share = shareOfBest(top);
  const isNear = nearServers(index, scores, top * NEAR_SERVER_SHARE);
  return scores.map((score, document) => {
    const isOfNear = isNear[index.serverOf[document] ?? 0] === 1;
    return score >= top * (isOfNear ? share : Math.max(share, STRANGER_SHARE)) ? score : 0;
  });
}

/** Which servers have a tool with this score: 1 or 0 by server. */
function nearServers(index: LexicalIndex, scores: Float32Array, least: number): Uint8Array {
  const near = new Uint8Array(index.serverCount);
  for (let document = 0; document < scores.length; document++) {
    if ((scores[document] ?? 0) >= least) near[index.serverOf[document] ?? 0] = 1;
  }
  return near;
}

function shareOfBest(cover: number): number {
  const { least, most } = COVER_OF_BEST;
  const sureness = Math.min(1, Math.max(0, (cover - least) / (most - least)));
  return SHARE_OF_BEST.least + (SHARE_OF_BEST.most - SHARE_OF_BEST.least) * sureness;
}

/** Whether one of the best tools fits the text or one of its parts, by the certainty of each match. */
function anyFits(index: LexicalIndex, text: string, scores: Float32Array): boolean {
  const best = Array.from(scores.keys())
    .filter((document) => (scores[document] ?? 0) > 0)
    .toSorted((one, other) => (scores[other] ?? 0) - (scores[one] ?? 0))
    .slice(0, MAX_JUDGED_TOOLS);
  const texts = new Set([text, ...partsOf(text).map((part) => part.text)]);
  return [...texts].some((part) => {
    const judge = new FitJudge(index, readPart(part, index));
    return best.some((document) => judge.judge(document).score >= LEAST_FIT);
  });
}
