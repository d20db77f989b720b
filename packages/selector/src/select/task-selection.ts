import { toolId } from "@cem/core";
import type { RankedTool, Selection } from "@cem/core";
import type { IndexedCatalog } from "../search/catalog-cache.ts";
import type { LexicalIndex } from "../catalog/lexical-index.ts";
import { highest } from "../search/bm25.ts";
import { readPart, type Reading } from "../search/reading.ts";
import { best, knownWords, matchReason, NAMED_REASON, ranked } from "../search/results.ts";
import type { SearchRanking } from "../search/search-ranking.ts";
import { fuse } from "../semantic/fusion.ts";
import { isPath, type Hint } from "../words/hints.ts";
import { NO_ACTIONS } from "../words/verbs.ts";
import { coverOf, type Covers } from "./cover.ts";
import { findSupplier, isPlainOperation, partsOf, type Part } from "./parts.ts";

/** The size from which a catalog is searched for the whole task, too: from there on the rarity of words is informative. */
export const MIN_LARGE_CATALOG_TOOLS = 50;
/** Tools of a large catalog with this share of the best rank are chosen with the best. */
const CLOSE_MARGIN = 0.6;
const MAX_CLOSE_TOOLS = 5;
/** The share of a task that the best tool must explain, as a share of the threshold. */
const COVER_OF_THRESHOLD = 0.66;
/** Tools with this share of the best cover of a part are chosen with the best. */
const TIE_MARGIN = 0.97;
const MAX_TIES = 3;
/** Weight of the search's rank in ordering the tools of a part. */
const RANK_WEIGHT = 0.6;
/** The least certainty of the object from which a tool is chosen for a plain operation. */
const PLAIN_OBJECT_CERTAINTY = 0.8;
/** Factor for the words of the previous part that "it" may refer to. */
const REFERENCE_WEIGHT = 0.5;
/** The least cover of the words that the first tool of a part lacks, from which a second one is chosen. */
const SECOND_TOOL_COVER = 0.6;
/** Verbs that change something existing, which is read before. */
const CHANGES =
  /\b(?:append|copy|duplicate|update|edit|modify|change|increment|decrement|replace|prepend)\b/iu;
const READS_FILE = "read file";
/** Beginnings of parts that save results. */
const SAVES = /^\W*(?:and |then )?(?:save|store|persist|write)\b/iu;
const NEAREST_TOOLS = 3;

interface Chosen {
  score: number;
  reason: string;
}

/** The selection of the tools for one task: those that the search ranks first for each of its parts, and that cover enough of it. */
export class TaskSelection {
  readonly #index: LexicalIndex;
  readonly #ranking: SearchRanking;
  /** Semantic similarities by document, where there are any. */
  readonly #meaning: Float32Array | undefined;
  readonly #threshold: number;
  readonly #chosen = new Map<number, Chosen>();
  /** The best cover of each tool over all parts. */
  readonly #best: Float32Array;
  /** The ranks for the whole task, in a large catalog. */
  #ranks: Float32Array | undefined;
  #previous: Reading | undefined;
  /** The last path in the task, which "save it" refers to. */
  #path: Hint | undefined;

  constructor({ index, ranking }: IndexedCatalog, threshold: number, meaning?: Float32Array) {
    this.#index = index;
    this.#ranking = ranking;
    this.#meaning = meaning;
    this.#threshold = threshold;
    this.#best = new Float32Array(index.tools.length);
  }

  run(task: string, limit: number, signal: AbortSignal | undefined): Selection {
    for (const document of this.#index.names.findIn(task)) this.#choose(document, 1, NAMED_REASON);
    for (const part of partsOf(task)) {
      signal?.throwIfAborted();
      this.#addPart(part);
    }
    if (this.#index.tools.length >= MIN_LARGE_CATALOG_TOOLS) this.#addByRank(task);
    const rankOf = (document: number): number => this.#ranks?.[document] ?? 0;
    const documents = [...this.#chosen].toSorted(
      ([one, a], [other, b]) => b.score - a.score || rankOf(other) - rankOf(one) || one - other,
    );
    const selected = documents
      .slice(0, Math.max(0, limit))
      .flatMap(([document, { score, reason }]) => ranked(this.#index, document, score, reason));
    return { selected, nearest: this.#nearest(task) };
  }

  /**
   * Adds tools of a large catalog that rank near the best for the whole task. The best gets the score of the best part, if
   * that is higher.
   */
  #addByRank(task: string): void {
    const { scores, explained } = this.#ranking.rank(task);
    if (explained < this.#threshold * COVER_OF_THRESHOLD) return;
    const ranks = this.#meaning === undefined ? scores : fuse(scores, this.#meaning);
    this.#ranks = ranks;
    const top = highest(ranks);
    const parts = [...this.#chosen.values()].filter(({ reason }) => reason !== NAMED_REASON);
    const own = this.#threshold + (1 - this.#threshold) * Math.min(1, explained);
    const most = parts.reduce((most, { score }) => Math.max(most, score), own);
    for (const document of best(ranks, MAX_CLOSE_TOOLS)) {
      const share = (ranks[document] ?? 0) / top;
      const reason = matchReason(knownWords(this.#index, document, task));
      if (share >= CLOSE_MARGIN) this.#choose(document, most * share, reason);
    }
  }

  #addPart(part: Part): void {
    const reading = this.#withReference(readPart(part.text, this.#index), part);
    this.#path = reading.hints.find(isPath) ?? this.#path;
    const covers = coverOf(this.#index, reading);
    for (let document = 0; document < this.#best.length; document++)
      this.#best[document] = Math.max(this.#best[document] ?? 0, covers.scores[document] ?? 0);
    const named = [...this.#index.names.findIn(part.text)];
    const isPlain = this.#isPlain(part);
    const isFitting = highest(covers.scores) >= this.#threshold;
    const ranks = isFitting ? this.#ranking.score(part.text) : covers.scores;
    const picked = named.length > 0 ? named : this.#pick(covers, ranks, part.isCondition || isPlain);
    for (const document of picked) {
      this.#chooseFor(document, reading, covers);
      this.#addSupplier(document, part.text);
    }
    const [only, another] = picked;
    if (only !== undefined && another === undefined && !isPlain)
      this.#addSecond(only, ranks, reading, covers);
    if (picked.length > 0 && CHANGES.test(part.text) && reading.hints.some(isPath))
      this.#addReader(reading.hints);
    this.#previous = reading;
  }

  /** The tools that cover enough and as much as the best, in the order of the search. */
  #pick(
    { scores, objects }: Covers,
    ranks: Float32Array,
    isPlain: boolean,
    least = this.#threshold,
  ): number[] {
    const top = highest(ranks) || 1;
    const order = scores.map((score, document) => {
      if (score < least || (isPlain && (objects[document] ?? 0) < PLAIN_OBJECT_CERTAINTY)) return 0;
      return score + (RANK_WEIGHT * (ranks[document] ?? 0)) / top;
    });
    const first = best(order, MAX_TIES);
    const most = first.reduce((most, document) => Math.max(most, scores[document] ?? 0), 0);
    return first.filter((document, at) => at === 0 || (scores[document] ?? 0) >= most * TIE_MARGIN);
  }

  /** Adds the tool for the words that the first one lacks: `get the weather for each city of our users`. */
  #addSecond(first: number, ranks: Float32Array, reading: Reading, { terms }: Covers): void {
    const missing = reading.terms.filter((term, at) => !term.general && (terms[at]?.[first] ?? 0) === 0);
    if (missing.length === 0) return;
    const rest = { ...reading, terms: missing, hints: [], actions: NO_ACTIONS };
    const covers = coverOf(this.#index, rest);
    for (const document of this.#pick(covers, ranks, false, Math.max(SECOND_TOOL_COVER, this.#threshold)))
      this.#chooseFor(document, rest, covers);
  }

  /** Adds the tool that reads a file before it is changed: `copy a.txt`, `update state.json`. */
  #addReader(hints: readonly Hint[]): void {
    const labels = hints.filter(isPath).map(({ label }) => label);
    const covers = coverOf(this.#index, readPart(READS_FILE, this.#index));
    const [reader] = this.#pick(covers, this.#ranking.score(READS_FILE), false);
    if (reader !== undefined) this.#choose(reader, this.#threshold, matchReason([], labels));
  }

  /** Whether a part is a plain operation. The first part is not, since it has no results to work on. */
  #isPlain(part: Part): boolean {
    return (
      this.#previous !== undefined &&
      !(this.#path !== undefined && SAVES.test(part.text)) &&
      isPlainOperation(part.text)
    );
  }

  #addSupplier(document: number, text: string): void {
    const supplier = findSupplier(this.#index, document, text);
    const tool = this.#index.tools[document];
    if (supplier !== undefined && tool !== undefined) {
      this.#choose(supplier, this.#threshold, `lists what ${toolId(tool)} takes`);
    }
  }

  #chooseFor(document: number, { terms, hints }: Reading, covers: Covers): void {
    const words = terms
      .map(({ word, weight }, at) => ({ word, worth: weight * (covers.terms[at]?.[document] ?? 0) }))
      .filter(({ worth }) => worth > 0)
      .toSorted((one, other) => other.worth - one.worth);
    const hinted = hints.filter((_, at) => (covers.hints[at]?.[document] ?? 0) > 0);
    this.#choose(
      document,
      covers.scores[document] ?? 0,
      matchReason(
        words.map(({ word }) => word),
        hinted.map(({ label }) => label),
      ),
    );
  }

  #choose(document: number, score: number, reason: string): void {
    const before = this.#chosen.get(document);
    if (before === undefined || score > before.score) this.#chosen.set(document, { score, reason });
  }

  /** Adds the words of the previous part to one that refers to it: "read it back" after "write a file". */
  #withReference(own: Reading, part: Part): Reading {
    const saves = this.#path !== undefined && own.hints.length === 0 && SAVES.test(part.text);
    const reading = saves && this.#path ? { ...own, hints: [this.#path] } : own;
    if (!reading.refersBack || this.#previous === undefined) return reading;
    const said = new Set(reading.terms.map(({ stem }) => stem));
    const borrowed = this.#previous.terms
      .filter((term) => !term.general && !said.has(term.stem))
      .map((term) => ({ ...term, weight: term.weight * REFERENCE_WEIGHT }));
    const hints = reading.hints.length > 0 ? reading.hints : this.#previous.hints;
    return { ...reading, terms: [...reading.terms, ...borrowed], hints };
  }

  /** The tools with the highest covers among those that were not chosen. */
  #nearest(task: string): RankedTool[] {
    const left = this.#best.map((score, document) => (this.#chosen.has(document) ? 0 : score));
    return best(left, NEAREST_TOOLS).flatMap((document) =>
      ranked(
        this.#index,
        document,
        left[document] ?? 0,
        matchReason(knownWords(this.#index, document, task)),
      ),
    );
  }
}
