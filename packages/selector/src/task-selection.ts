import type { RankedTool, Selection } from "@cem/core";
import { toolId } from "@cem/core";
import { hasAction } from "./actions.ts";
import type { IndexedCatalog } from "./catalog-cache.ts";
import { FitJudge, type Fit } from "./fit.ts";
import { isPath, type Hint } from "./hints.ts";
import { chooseByRank, MIN_LARGE_CATALOG_TOOLS } from "./large-catalog.ts";
import type { LexicalIndex } from "./lexical-index.ts";
import { likeness } from "./likeness.ts";
import { findNamed, type NamedTools } from "./named-tools.ts";
import { isPlainOperation } from "./plain-operations.ts";
import { partsOf, type Part } from "./parts.ts";
import { createScorer, highest, type Scorer } from "./ranking.ts";
import { readPart, type Reading } from "./reading.ts";
import { knownWords, matchReason, NAMED_REASON, ranked } from "./results.ts";
import type { SearchRanking } from "./search-ranking.ts";
import { fuse } from "./semantic/fusion.ts";
import { findSupplier } from "./suppliers.ts";

/** Tools of one part that are this close to its best are chosen with it. */
const TIE_MARGIN = 0.97;
/** A tool that is chosen already is taken again where it is this close to a part's best. */
const REUSE_MARGIN = 0.85;
const MAX_TIES = 3;
/** What a part's BM25F adds to order tools that fit a part alike. */
const RANK_WEIGHT = 0.6;
/** How surely a tool must know the object of a plain operation to be chosen for it. */
const PLAIN_OBJECT_CERTAINTY = 0.8;
/** Words of the part before that "it" may stand for count this much. */
const REFERENCE_WEIGHT = 0.5;
/** How surely a second tool must know what the first one of a part lacks. */
const SECOND_TOOL_CERTAINTY = 0.6;
/** How much better two tools must fit than one. */
const SECOND_TOOL_GAIN = 0.12;
/** How much of the doubt about a tool stays when it is named in plain words. */
const SPOKEN_NAME_DOUBT = 0.5;
/** How well a tool of a large catalog must fit a part to be chosen, whatever its rank. */
const LARGE_CATALOG_THRESHOLD = 0.6;
/** What changes something that is there. */
const CHANGES =
  /\b(?:append|copy|duplicate|update|edit|modify|change|increment|decrement|replace|prepend)\b/iu;
/** What makes results last. */
const SAVES = /^\W*(?:and |then )?(?:save|store|persist|write)\b/iu;
const NEAREST_TOOLS = 3;

interface Chosen {
  score: number;
  reason: string;
}

/** The search for the tools of one task. */
export class TaskSelection {
  readonly #index: LexicalIndex;
  readonly #ranking: SearchRanking;
  /** How close each tool is in meaning, where that is known. */
  readonly #meaning: Float32Array | undefined;
  readonly #userThreshold: number;
  readonly #threshold: number;
  readonly #score: Scorer;
  readonly #chosen = new Map<number, Chosen>();
  /** The best score of every tool over all parts. */
  readonly #best = new Map<number, Fit>();
  #previous: Reading | undefined;
  /** The path that the task spoke of last: "save it" means that one. */
  #path: Hint | undefined;

  constructor({ index, ranking }: IndexedCatalog, threshold: number, meaning?: Float32Array) {
    this.#index = index;
    this.#ranking = ranking;
    this.#meaning = meaning;
    this.#score = createScorer(index);
    this.#userThreshold = threshold;
    const isLarge = index.tools.length >= MIN_LARGE_CATALOG_TOOLS;
    this.#threshold = isLarge ? Math.max(threshold, LARGE_CATALOG_THRESHOLD) : threshold;
  }

  run(task: string, limit: number, signal: AbortSignal | undefined): Selection {
    for (const document of findNamed(this.#index.names, task).written) {
      this.#choose(document, 1, NAMED_REASON);
    }
    const parts = partsOf(task);
    for (const part of parts) {
      signal?.throwIfAborted();
      this.#addPart(part);
    }
    if (this.#index.tools.length >= MIN_LARGE_CATALOG_TOOLS) {
      this.#addByRank(task, parts);
    }
    const documents = [...this.#chosen].toSorted(([one, a], [other, b]) => b.score - a.score || one - other);
    const selected = documents
      .slice(0, Math.max(0, limit))
      .flatMap(([document, { score, reason }]) => ranked(this.#index, document, score, reason));
    return { selected, nearest: this.#nearest(task) };
  }

  /** In a large catalog rank says more than fit: the best by rank stands level with the best that fits. */
  #addByRank(task: string, parts: readonly Part[]): void {
    const texts = parts.map(({ text }) => text);
    const rank = (): Float32Array => {
      const scores = this.#ranking.rank(task);
      return this.#meaning === undefined ? scores : fuse(scores, this.#meaning);
    };
    const close = chooseByRank(this.#index, this.#score, rank, task, texts, this.#userThreshold);
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
    const named = findNamed(this.#index.names, part.text);
    const chosen = this.#chooseNamed(named, judge);
    if (chosen.length === 0) {
      chosen.push(...this.#pick(part, fits));
    }
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

  /** What is written as a name is meant; what is only said in its words must fit as well. */
  #chooseNamed({ written, spoken }: NamedTools, judge: FitJudge): Fit[] {
    const fits = [...spoken].map((document) => judge.judge(document));
    const meant = fits.filter(({ score }) => score >= this.#threshold);
    for (const { document, score } of meant) {
      this.#choose(document, 1 - (1 - score) * SPOKEN_NAME_DOUBT, NAMED_REASON);
    }
    return [...[...written].map((document) => judge.judge(document)), ...meant];
  }

  /** Best first. Tools that fit alike are ordered by BM25F, then by id. */
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
    const hinted = fits.find(({ hinted, score }) => hinted.length > 0 && score >= this.#userThreshold);
    const fitting = fits.filter(
      (fit) =>
        (fit.score >= this.#threshold || fit === hinted) &&
        (!plain || fit.objectCertainty >= PLAIN_OBJECT_CERTAINTY),
    );
    const best = fitting.slice(0, MAX_TIES).reduce((top, { score }) => Math.max(top, score), 0);
    const again = fitting.find((fit) => this.#chosen.has(fit.document) && fit.score >= best * REUSE_MARGIN);
    if (again !== undefined) {
      return [again];
    }
    const first = fitting.find((fit) => fit.score >= best * REUSE_MARGIN);
    return fitting.slice(0, MAX_TIES).filter((fit) => fit === first || fit.score >= best * TIE_MARGIN);
  }

  /** The first part of a task has no results to work on. */
  #isPlain(part: Part): boolean {
    return (
      this.#previous !== undefined &&
      !(this.#path !== undefined && SAVES.test(part.text)) &&
      isPlainOperation(part.text)
    );
  }

  /** A part that speaks of two things may need a tool for each: `compare the weather with the orders`. */
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

  /** `copy a.txt`, `update state.json`: what changes a file reads it first. */
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

  /** "Read it back" after "write a file" speaks of a file. */
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
