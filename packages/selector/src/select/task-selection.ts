import { toolId } from "@cem/core";
import type { RankedTool, Selection } from "@cem/core";
import type { IndexedCatalog } from "../search/catalog-cache.ts";
import type { LexicalIndex } from "../catalog/lexical-index.ts";
import { createScorer, explainedShare, highest, type Scorer } from "../search/bm25.ts";
import { readPart, type Reading } from "../search/reading.ts";
import { knownWords, likeness, matchReason, NAMED_REASON, ranked } from "../search/results.ts";
import type { SearchRanking } from "../search/search-ranking.ts";
import { fuse } from "../semantic/fusion.ts";
import { isPath, type Hint } from "../words/hints.ts";
import { hasAction } from "../words/verbs.ts";
import { FitJudge, type Fit } from "./fit.ts";
import { findSupplier, isPlainOperation, partsOf, type Part } from "./parts.ts";

/** The size from which a catalog is searched by rank: from there on the rarity of words is informative. */
export const MIN_LARGE_CATALOG_TOOLS = 50;
/** Tools with this share of the best score are chosen with the best. */
const CLOSE_MARGIN = 0.6;
const MAX_CLOSE_TOOLS = 5;
/** The share of a task that the best tool must cover, as a share of the threshold. */
const COVER_OF_THRESHOLD = 0.66;
/** A document with its score. */
interface RankedDocument {
  document: number;
  /** 0 to 1. */
  score: number;
}

/**
 * Chooses the tools of a large catalog that rank near the best for a task. None when even the best one covers too little,
 * which means that only common words matched.
 *
 * @param scores - BM25F scores of the task by document.
 * @param rank - The ranking of the task, computed when it is needed.
 * @param threshold - The selector's threshold, 0 to 1.
 */
function chooseByRank(
  index: LexicalIndex,
  scores: Float32Array,
  rank: () => Float32Array,
  task: string,
  threshold: number,
): RankedDocument[] {
  const cover = explainedShare(index, task, scores);
  if (cover < threshold * COVER_OF_THRESHOLD) return [];
  const close = highestRanked(rank(), MAX_CLOSE_TOOLS);
  const top = close[0]?.score ?? 0;
  return close
    .filter(({ score }) => score >= top * CLOSE_MARGIN)
    .map(({ document, score }) => ({ document, score: scoreOf(cover, threshold) * (score / top) }));
}

function scoreOf(cover: number, threshold: number): number {
  return threshold + (1 - threshold) * Math.min(1, cover);
}

/** The documents with the highest scores above 0, best first; equal scores in the order of their ids. */
function highestRanked(scores: Float32Array, count: number): RankedDocument[] {
  const best: RankedDocument[] = [];
  for (let document = 0; document < scores.length; document++) {
    const score = scores[document] ?? 0;
    if (score > (best.length < count ? 0 : (best.at(-1)?.score ?? 0))) {
      const at = best.findIndex((other) => other.score < score);
      best.splice(at < 0 ? best.length : at, 0, { document, score });
      best.length = Math.min(best.length, count);
    }
  }
  return best;
}

/** Tools with this share of the best score of a part are chosen with the best. */
const TIE_MARGIN = 0.97;
const MAX_TIES = 3;
/** Weight of BM25F in ordering the tools of a part. */
const RANK_WEIGHT = 0.6;
/** The least certainty of the object from which a tool is chosen for a plain operation. */
const PLAIN_OBJECT_CERTAINTY = 0.8;
/** Factor for the words of the previous part that "it" may refer to. */
const REFERENCE_WEIGHT = 0.5;
/** The least certainty with which a second tool must match a word that the first one lacks. */
const SECOND_TOOL_CERTAINTY = 0.6;
/** How much higher the score of two tools must be than that of one. */
const SECOND_TOOL_GAIN = 0.12;
/** Verbs that change something existing. */
const CHANGES =
  /\b(?:append|copy|duplicate|update|edit|modify|change|increment|decrement|replace|prepend)\b/iu;
/** Beginnings of parts that save results. */
const SAVES = /^\W*(?:and |then )?(?:save|store|persist|write)\b/iu;
const NEAREST_TOOLS = 3;

interface Chosen {
  score: number;
  reason: string;
}

/** The selection of the tools for one task. */
export class TaskSelection {
  readonly #index: LexicalIndex;
  readonly #ranking: SearchRanking;
  /** Semantic similarities by document, where there are any. */
  readonly #meaning: Float32Array | undefined;
  readonly #threshold: number;
  readonly #score: Scorer;
  readonly #chosen = new Map<number, Chosen>();
  /** The best fit of every tool over all parts. */
  readonly #best = new Map<number, Fit>();
  #previous: Reading | undefined;
  /** The last path in the task, which "save it" refers to. */
  #path: Hint | undefined;

  constructor({ index, ranking }: IndexedCatalog, threshold: number, meaning?: Float32Array) {
    this.#index = index;
    this.#ranking = ranking;
    this.#meaning = meaning;
    this.#score = createScorer(index);
    this.#threshold = threshold;
  }

  run(task: string, limit: number, signal: AbortSignal | undefined): Selection {
    for (const document of this.#index.names.findIn(task)) {
      this.#choose(document, 1, NAMED_REASON);
    }
    const parts = partsOf(task);
    for (const part of parts) {
      signal?.throwIfAborted();
      this.#addPart(part);
    }
    if (this.#index.tools.length >= MIN_LARGE_CATALOG_TOOLS) {
      this.#addByRank(task);
    }
    const documents = [...this.#chosen].toSorted(([one, a], [other, b]) => b.score - a.score || one - other);
    const selected = documents
      .slice(0, Math.max(0, limit))
      .flatMap(([document, { score, reason }]) => ranked(this.#index, document, score, reason));
    return { selected, nearest: this.#nearest(task) };
  }

  /** Adds tools of a large catalog by rank. The best by rank gets the score of the best by fit, if that is higher. */
  #addByRank(task: string): void {
    const rank = (): Float32Array => {
      const { scores } = this.#ranking.rank(task);
      return this.#meaning === undefined ? scores : fuse(scores, this.#meaning);
    };
    const close = chooseByRank(this.#index, this.#score(task), rank, task, this.#threshold);
    const fitting = [...this.#chosen.values()].filter(({ reason }) => reason !== NAMED_REASON);
    const scale = Math.max(1, bestScore(fitting) / bestScore(close));
    for (const { document, score } of close) {
      this.#choose(document, score * scale, matchReason(knownWords(this.#index, document, task)));
    }
  }

  #addPart(part: Part): void {
    const reading = this.#withReference(readPart(part.text, this.#index), part);
    this.#path = reading.hints.find(isPath) ?? this.#path;
    const judge = new FitJudge(this.#index, reading);
    const fits = this.#rank(part.text, judge);
    for (const fit of fits) {
      if (fit.score > (this.#best.get(fit.document)?.score ?? 0)) {
        this.#best.set(fit.document, fit);
      }
    }
    const named = [...this.#index.names.findIn(part.text)].map((document) => judge.judge(document));
    const chosen = named.length > 0 ? named : this.#pick(part, fits);
    for (const fit of chosen) {
      this.#chooseFit(fit, fit.score);
      this.#addSupplier(fit.document, part.text);
      this.#addReader(fit, part, fits);
    }
    if (chosen.length <= 1 && !this.#isPlain(part)) {
      this.#addSecond(chosen[0] ?? fits[0], fits, judge);
    }
    this.#previous = reading;
  }

  /** The fitting tools, best first. Equal fits are ordered by BM25F, then by id. */
  #rank(text: string, judge: FitJudge): Fit[] {
    const scores = this.#score(text);
    const top = highest(scores);
    const order = (fit: Fit) => fit.score + (RANK_WEIGHT * (scores[fit.document] ?? 0)) / (top || 1);
    return judge
      .candidates()
      .map((document) => judge.judge(document))
      .toSorted((one, other) => order(other) - order(one) || one.document - other.document);
  }

  #pick(part: Part, fits: readonly Fit[]): Fit[] {
    const plain = part.isCondition || this.#isPlain(part);
    const fitting = fits.filter(
      (fit) => fit.score >= this.#threshold && (!plain || fit.objectCertainty >= PLAIN_OBJECT_CERTAINTY),
    );
    const best = fitting.slice(0, MAX_TIES).reduce((top, { score }) => Math.max(top, score), 0);
    return fitting.slice(0, MAX_TIES).filter((fit, at) => at === 0 || fit.score >= best * TIE_MARGIN);
  }

  /** Whether a part is a plain operation. The first part is not, since it has no results to work on. */
  #isPlain(part: Part): boolean {
    return (
      this.#previous !== undefined &&
      !(this.#path !== undefined && SAVES.test(part.text)) &&
      isPlainOperation(part.text)
    );
  }

  /** Adds a second tool to a part about two things: `compare the weather with the orders`. */
  #addSecond(first: Fit | undefined, fits: readonly Fit[], judge: FitJudge): void {
    if (first === undefined || first.missing.length === 0) {
      return;
    }
    let best: { second: Fit; together: number } | undefined;
    for (const second of fits) {
      const adds = first.missing.some((term) => second.certaintyOf(term) >= SECOND_TOOL_CERTAINTY);
      const together = adds ? judge.judgeTogether(first, second) : 0;
      if (together > (best?.together ?? 0)) {
        best = { second, together };
      }
    }
    if (best && best.together >= this.#threshold && best.together - first.score >= SECOND_TOOL_GAIN) {
      this.#chooseFit(first, best.together);
      this.#chooseFit(best.second, best.together);
    }
  }

  /** Adds the tool that reads a file before it is changed: `copy a.txt`, `update state.json`. */
  #addReader(writer: Fit, part: Part, fits: readonly Fit[]): void {
    const { actionsOf, serverOf } = this.#index;
    if (!CHANGES.test(part.text) || !hasAction(actionsOf[writer.document], "write")) {
      return;
    }
    const reader = fits.find(
      ({ document, hinted }) =>
        serverOf[document] === serverOf[writer.document] &&
        hinted.length > 0 &&
        hasAction(actionsOf[document], "read"),
    );
    if (reader !== undefined) {
      this.#chooseFit(reader, this.#threshold);
    }
  }

  #addSupplier(document: number, text: string): void {
    const supplier = findSupplier(this.#index, document, text);
    const tool = this.#index.tools[document];
    if (supplier !== undefined && tool !== undefined) {
      this.#choose(supplier, this.#threshold, `lists what ${toolId(tool)} takes`);
    }
  }

  #chooseFit(fit: Fit, score: number): void {
    this.#choose(fit.document, score, matchReason(fit.matched, fit.hinted));
  }

  #choose(document: number, score: number, reason: string): void {
    const before = this.#chosen.get(document);
    if (before === undefined || score > before.score) {
      this.#chosen.set(document, { score, reason });
    }
  }

  /** Adds the words of the previous part to one that refers to it: "read it back" after "write a file". */
  #withReference(own: Reading, part: Part): Reading {
    const saves = this.#path !== undefined && own.hints.length === 0 && SAVES.test(part.text);
    const reading = saves && this.#path ? { ...own, hints: [this.#path] } : own;
    if (!reading.refersBack || this.#previous === undefined) {
      return reading;
    }
    const said = new Set(reading.terms.map(({ stem }) => stem));
    const borrowed = this.#previous.terms
      .filter((term) => !term.general && !said.has(term.stem))
      .map((term) => ({ ...term, weight: term.weight * REFERENCE_WEIGHT }));
    const hints = reading.hints.length > 0 ? reading.hints : this.#previous.hints;
    return { ...reading, terms: [...reading.terms, ...borrowed], hints };
  }

  #nearest(task: string): RankedTool[] {
    const left = [...this.#best.values()].filter(({ document }) => !this.#chosen.has(document));
    left.sort((one, other) => other.score - one.score || one.document - other.document);
    const nearest = left
      .slice(0, NEAREST_TOOLS)
      .flatMap(({ document, score, matched, hinted }) =>
        ranked(this.#index, document, score, matchReason(matched, hinted)),
      );
    if (this.#chosen.size > 0) {
      return nearest;
    }
    const known = new Set(this.#best.keys());
    return [...nearest, ...likeness(this.#index, task, known, NEAREST_TOOLS - nearest.length)];
  }
}

function bestScore(scored: readonly { score: number }[]): number {
  return scored.reduce((best, { score }) => Math.max(best, score), 0);
}
