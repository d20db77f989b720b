import { splitSteps } from "@cem/core/text";
import type { LexicalIndex } from "../catalog/lexical-index.ts";
import { impliedSteps } from "../words/hints.ts";
import { actionFactor, NO_ACTIONS } from "../words/verbs.ts";
import { createScorer, explainedShare, highest, idealScore, MAX_PARTS } from "./search-scorer.ts";
import { addPhraseGains } from "./phrases.ts";
import { readPart } from "./reading.ts";

/** Weight of the best step in addition to the whole text. Tuned over all evaluation sets together, like the other weights. */
const STEP_WEIGHT = 0.7;
const BEST_OF_IMPLIED_STEP_GAIN = 1.1;
/** The share of an implied step that its best tool must explain. Otherwise the catalog has no tool for it. */
const IMPLIED_STEP_EXPLAINED = 0.6;
/** Weight of the best two tools of a tool's server, since tasks tend to stay with one server. */
const SERVER_WEIGHT = 0.3;
/** If the best tool explains less than this, its words are examined more closely. */
const DOUBTFUL_SHARE = 0.3;
/** The highest score when only an implied step matched. */
const LEAST_COVER = 0.01;

/** How the tools of a catalog rank for one text. */
export interface Ranks {
  /** By document, 0 to 1. The highest is the share of the text that the best tool explains. */
  scores: Float32Array;
  /** The share of the text's most distinctive words, or of those of one of its steps, that the best tool explains, 0 to 1. */
  explained: number;
}

/** Ranks tools by the whole text, its steps and the other tools of each server. Plain loops, since iterators are slow. */
export function createRanking(index: LexicalIndex): (text: string) => Ranks {
  const score = createScorer(index);
  return (text) => {
    const whole = score(text);
    const cover = Math.min(1, highest(whole) / (idealScore(index, text) || Infinity));
    const explained = explainedByBest(index, score, text, whole);
    const scores = share(whole);
    addPhraseGains(index, scores, text);
    const explainedStep = addSteps(index, score, scores, text);
    if (index.serverCount > 1) addServers(index, scores);
    return { scores: share(scores, cover || LEAST_COVER), explained: Math.max(explained, explainedStep) };
  };
}

type Score = ReturnType<typeof createScorer>;

/** The share of a text that its best tool explains. If it is small, general words and other actions don't count. */
function explainedByBest(index: LexicalIndex, score: Score, text: string, scores: Float32Array): number {
  const explained = explainedShare(index, text, scores);
  if (explained >= DOUBTFUL_SHARE) return explained;
  const { terms, actions } = readPart(text);
  const objects = terms.filter(({ general }) => !general).map(({ word }) => word);
  if (objects.length === 0) return explained;
  const telling = objects.join(" ");
  const fits = score(telling);
  const suited = fits.map(
    (fit, document) => fit * actionFactor(actions, index.actionsOf[document] ?? NO_ACTIONS),
  );
  return explainedShare(index, telling, suited);
}

/** @returns The highest share of a step that its best tool explains. */
function addSteps(index: LexicalIndex, score: Score, scores: Float32Array, text: string): number {
  const steps = new Set(splitSteps(text).map((step) => step.text));
  const best = new Float32Array(scores.length);
  let explained = 0;
  for (const { text: step, weight } of impliedSteps(text)) {
    const found = score(step);
    const cover = explainedShare(index, step, found);
    if (cover < IMPLIED_STEP_EXPLAINED) continue;
    explained = Math.max(explained, weight * cover);
    const fits = share(found);
    raise(best, fits, weight);
    for (let document = 0; document < fits.length; document++) {
      const gain = fits[document] === 1 ? BEST_OF_IMPLIED_STEP_GAIN * weight : 0;
      scores[document] = (scores[document] ?? 0) + gain;
    }
  }
  for (const step of steps.size > 1 ? [...steps].slice(0, MAX_PARTS) : []) {
    const found = score(step);
    explained = Math.max(explained, explainedShare(index, step, found));
    raise(best, share(found), 1);
  }
  for (let document = 0; document < scores.length; document++) {
    scores[document] = (scores[document] ?? 0) + STEP_WEIGHT * (best[document] ?? 0);
  }
  return explained;
}

function addServers({ serverOf, serverCount }: LexicalIndex, scores: Float32Array): void {
  const first = new Float32Array(serverCount);
  const second = new Float32Array(serverCount);
  for (let document = 0; document < scores.length; document++) {
    const score = scores[document] ?? 0;
    const server = serverOf[document] ?? 0;
    if (score > (first[server] ?? 0)) {
      second[server] = first[server] ?? 0;
      first[server] = score;
    } else if (score > (second[server] ?? 0)) {
      second[server] = score;
    }
  }
  for (let document = 0; document < scores.length; document++) {
    const score = scores[document] ?? 0;
    const server = serverOf[document] ?? 0;
    const gain = (SERVER_WEIGHT * ((first[server] ?? 0) + (second[server] ?? 0))) / 2;
    if (score > 0) scores[document] = score + gain;
  }
}

/** Normalises scores in place to shares of the best, times a factor. */
function share(scores: Float32Array, factor = 1): Float32Array {
  const top = highest(scores) || 1;
  for (let document = 0; document < scores.length; document++) {
    scores[document] = ((scores[document] ?? 0) / top) * factor;
  }
  return scores;
}

function raise(best: Float32Array, fits: Float32Array, weight: number): void {
  for (let document = 0; document < fits.length; document++) {
    best[document] = Math.max(best[document] ?? 0, weight * (fits[document] ?? 0));
  }
}
