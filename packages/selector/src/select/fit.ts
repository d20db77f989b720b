import { FIELDS, type Field } from "../catalog/document.ts";
import type { LexicalIndex } from "../catalog/lexical-index.ts";
import { highest } from "../search/bm25.ts";
import type { Reading, Term } from "../search/reading.ts";
import { synonymsOf } from "../words/synonyms.ts";
import { actionFactor, NO_ACTIONS } from "../words/verbs.ts";

/** How certain a match in each field is, 0 to 1. */
const FIELD_CERTAINTY: Readonly<Record<Field, number>> = {
  name: 1,
  title: 0.95,
  server: 0.8,
  description: 0.65,
  parameter: 0.55,
  output: 0.5,
  parameterText: 0.4,
  outputText: 0.25,
  summary: 0.65,
};
const SYNONYM_CERTAINTY = 0.85;
/** The least similarity of words that match by spelling. Their certainty is the square of it. */
const MIN_SPELLING_SIMILARITY = 0.6;
const HINT_WEIGHT = 0.6;
/** Weight of the words that a tool does not match, against those that it does. */
const MISSING_WEIGHT = 0.5;
/** Factor of that for general words. */
const GENERAL_MISSING = 0.6;
/** The most tools that are scored for one part. */
const MAX_CANDIDATES = 128;
/** When there are more, only those with this share of the best one's evidence are scored. */
const CANDIDATE_SHARE = 0.4;
/** A score is reduced when its most certain match is below this. */
const SURE_EVIDENCE = 0.55;
/** The most certainty that general words alone (`get`, `data`) give, as a share of {@link SURE_EVIDENCE}. */
const GENERAL_EVIDENCE = 0.3;

/** How well one tool fits one part of a task. */
export interface Fit {
  document: number;
  /** 0 to 1. */
  score: number;
  /** The matched words of the text, the most important first. */
  matched: string[];
  /** The labels of the matched hints. */
  hinted: string[];
  /** The words that the tool does not match, general ones left out. */
  missing: Term[];
  /** The highest certainty of a match other than the leading verb and general words, 0 to 1. */
  objectCertainty: number;
  /** The certainty of the match of a term, 0 to 1. */
  certaintyOf(term: Term): number;
}

const MASK_CERTAINTY = Float32Array.from({ length: 1 << FIELDS.length }, (_, mask) =>
  Math.max(0, ...FIELDS.map((field, at) => (mask & (1 << at) ? FIELD_CERTAINTY[field] : 0))),
);

const ALL_FIELDS = (1 << FIELDS.length) - 1;
const OWN_FIELDS = ALL_FIELDS & ~(1 << FIELDS.indexOf("server"));

/** Scores tools for one part of a task. The matches of each word are computed once for all tools. */
export class FitJudge {
  readonly #index: LexicalIndex;
  readonly #reading: Reading;
  /** Certainties for each term, by document. */
  readonly #certainties: Float32Array[];
  readonly #hintCertainties: Float32Array[];

  constructor(index: LexicalIndex, reading: Reading) {
    this.#index = index;
    this.#reading = reading;
    this.#certainties = reading.terms.map((term) => certaintyOfWord(index, term.stem));
    this.#hintCertainties = reading.hints.map((hint) => certaintyOfHint(index, hint.stems));
  }

  /** The documents that match a word or a hint of the part; when there are many, the best ones. */
  candidates(): number[] {
    const evidence = new Float32Array(this.#index.tools.length);
    for (const [at, term] of this.#reading.terms.entries()) {
      addTimes(evidence, this.#certainties[at], term.weight);
    }
    for (const certainties of this.#hintCertainties) {
      addTimes(evidence, certainties, HINT_WEIGHT);
    }
    const most = highest(evidence);
    let known = positions(evidence, 0);
    if (known.length > MAX_CANDIDATES) {
      known = positions(evidence, most * CANDIDATE_SHARE);
      known.sort((one, other) => (evidence[other] ?? 0) - (evidence[one] ?? 0) || one - other);
    }
    return known.slice(0, MAX_CANDIDATES);
  }

  /** Scores one document. */
  judge(document: number): Fit {
    const { terms, hints } = this.#reading;
    const matched: { word: string; worth: number }[] = [];
    const missing: Term[] = [];
    let evidence = 0;
    let missed = 0;
    let surest = 0;
    let objectCertainty = 0;
    for (const [at, term] of terms.entries()) {
      const certainty = this.#certainties[at]?.[document] ?? 0;
      evidence += term.weight * certainty;
      missed += term.weight * (1 - certainty) * (term.general ? GENERAL_MISSING : 1);
      surest = Math.max(
        surest,
        term.general ? Math.min(certainty, GENERAL_EVIDENCE * SURE_EVIDENCE) : certainty,
      );
      if ((at > 0 || this.#reading.actions === NO_ACTIONS) && !term.general) {
        objectCertainty = Math.max(objectCertainty, certainty);
      }
      if (certainty > 0) {
        matched.push({ word: term.word, worth: term.weight * certainty });
      } else if (!term.general) {
        missing.push(term);
      }
    }
    const certaintyOf = (term: Term) => this.#certainties[terms.indexOf(term)]?.[document] ?? 0;
    const supported = surest >= SURE_EVIDENCE;
    const hinted: string[] = [];
    for (const [at, hint] of hints.entries()) {
      const known = this.#hintCertainties[at]?.[document] ?? 0;
      const certainty = hint.supports && !supported ? 0 : known;
      evidence += HINT_WEIGHT * certainty;
      missed += HINT_WEIGHT * (1 - certainty);
      surest = Math.max(surest, certainty);
      if (certainty > 0) {
        hinted.push(hint.label);
      }
    }
    const cover = evidence === 0 ? 0 : evidence / (evidence + MISSING_WEIGHT * missed);
    const score = cover * Math.min(1, surest / SURE_EVIDENCE) * this.#actionFactor(document);
    matched.sort((one, other) => other.worth - one.worth);
    return {
      document,
      score,
      matched: matched.map(({ word }) => word),
      hinted,
      missing,
      objectCertainty,
      certaintyOf,
    };
  }

  /** How well two tools fit together, 0 to 1. Each word counts by the better match of the two. */
  judgeTogether(one: Fit, other: Fit): number {
    let evidence = 0;
    let missed = 0;
    for (const term of this.#reading.terms) {
      const certainty = Math.max(one.certaintyOf(term), other.certaintyOf(term));
      evidence += term.weight * certainty;
      missed += term.weight * (1 - certainty);
    }
    const factor = Math.min(this.#actionFactor(one.document), this.#actionFactor(other.document));
    return evidence === 0 ? 0 : (factor * evidence) / (evidence + MISSING_WEIGHT * missed);
  }

  #actionFactor(document: number): number {
    const offered = this.#index.actionsOf[document] ?? NO_ACTIONS;
    return actionFactor(this.#reading.actions, offered, this.#reading.asksForMany);
  }
}

function positions(values: Float32Array, above: number): number[] {
  const found: number[] = [];
  for (let at = 0; at < values.length; at++) {
    if ((values[at] ?? 0) > above) {
      found.push(at);
    }
  }
  return found;
}

function addTimes(totals: Float32Array, values: Float32Array | undefined, weight: number): void {
  if (values === undefined) return;
  for (let at = 0; at < totals.length; at++) {
    totals[at] = (totals[at] ?? 0) + weight * (values[at] ?? 0);
  }
}

function certaintyOfWord(index: LexicalIndex, word: string): Float32Array {
  const certainties = new Float32Array(index.tools.length);
  raise(index, index.vocabulary.find(word), 1, certainties);
  for (const synonym of synonymsOf(word)) {
    raise(index, index.vocabulary.find(synonym), SYNONYM_CERTAINTY, certainties);
  }
  for (const { term, similarity } of index.vocabulary.similar(word)) {
    if (similarity >= MIN_SPELLING_SIMILARITY) {
      raise(index, term, similarity ** 2, certainties);
    }
  }
  return certainties;
}

/** Certainties of a hint by document. The name of the server does not count, since hints are about parameters. */
function certaintyOfHint(index: LexicalIndex, stems: readonly string[]): Float32Array {
  const certainties = new Float32Array(index.tools.length);
  for (const word of stems) {
    raise(index, index.vocabulary.find(word), 1, certainties, OWN_FIELDS);
  }
  return certainties;
}

function raise(
  index: LexicalIndex,
  term: number | undefined,
  factor: number,
  certainties: Float32Array,
  fields: number = ALL_FIELDS,
): void {
  if (term === undefined) {
    return;
  }
  const end = index.starts[term + 1] ?? 0;
  for (let at = index.starts[term] ?? 0; at < end; at++) {
    const document = index.documents[at] ?? 0;
    const certainty = factor * (MASK_CERTAINTY[(index.masks[at] ?? 0) & fields] ?? 0);
    if (certainty > (certainties[document] ?? 0)) {
      certainties[document] = certainty;
    }
  }
}
