import { FIELDS, type Field } from "../catalog/document.ts";
import type { LexicalIndex } from "../catalog/lexical-index.ts";
import type { Reading } from "../search/reading.ts";
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
/** A cover is reduced when its most certain match is below this. */
const SURE_EVIDENCE = 0.55;
/** The most certainty that general words alone (`get`, `data`) give, as a share of {@link SURE_EVIDENCE}. */
const GENERAL_EVIDENCE = 0.3;

const MASK_CERTAINTY = Float32Array.from({ length: 1 << FIELDS.length }, (_, mask) =>
  Math.max(0, ...FIELDS.map((field, at) => (mask & (1 << at) ? FIELD_CERTAINTY[field] : 0))),
);
const ALL_FIELDS = (1 << FIELDS.length) - 1;
const OWN_FIELDS = ALL_FIELDS & ~(1 << FIELDS.indexOf("server"));

/** How much of one part of a task each tool covers. */
export interface Covers {
  /** By document, 0 to 1. */
  scores: Float32Array;
  /** The highest certainty of a match other than the leading verb and general words, by document. */
  objects: Float32Array;
  /** The certainties of each term of the reading, by document. */
  terms: Float32Array[];
  /** The certainties of each hint of the reading, by document. */
  hints: Float32Array[];
}

/** Computes how much of a part every tool covers. Plain loops, since catalogs have thousands of tools. */
export function coverOf(index: LexicalIndex, { terms, hints, actions, asksForMany }: Reading): Covers {
  const size = index.tools.length;
  const [evidence, matched, surest] = [
    new Float32Array(size),
    new Float32Array(size),
    new Float32Array(size),
  ];
  const covers: Covers = {
    scores: new Float32Array(size),
    objects: new Float32Array(size),
    terms: terms.map(({ stem }) => certaintyOfWord(index, stem)),
    hints: hints.map(({ stems }) => certaintyOfHint(index, stems)),
  };
  /** The weight that a tool misses where nothing matches. */
  let missing = HINT_WEIGHT * hints.length;
  for (const [at, certainties] of covers.terms.entries()) {
    const { weight = 0, general = false } = terms[at] ?? {};
    const missed = weight * (general ? GENERAL_MISSING : 1);
    const isObject = (at > 0 || actions === NO_ACTIONS) && !general;
    missing += missed;
    for (let document = 0; document < size; document++) {
      const certainty = certainties[document] ?? 0;
      if (certainty === 0) continue;
      evidence[document] = (evidence[document] ?? 0) + weight * certainty;
      matched[document] = (matched[document] ?? 0) + missed * certainty;
      const sure = general ? Math.min(certainty, GENERAL_EVIDENCE * SURE_EVIDENCE) : certainty;
      surest[document] = Math.max(surest[document] ?? 0, sure);
      if (isObject) covers.objects[document] = Math.max(covers.objects[document] ?? 0, certainty);
    }
  }
  for (let document = 0; document < size; document++) {
    let [found, lost, sure] = [
      evidence[document] ?? 0,
      missing - (matched[document] ?? 0),
      surest[document] ?? 0,
    ];
    const isSupported = sure >= SURE_EVIDENCE;
    for (let at = 0; at < hints.length; at++) {
      const certainty =
        hints[at]?.supports === true && !isSupported ? 0 : (covers.hints[at]?.[document] ?? 0);
      found += HINT_WEIGHT * certainty;
      lost -= HINT_WEIGHT * certainty;
      sure = Math.max(sure, certainty);
    }
    if (found === 0) continue;
    const factor = actionFactor(actions, index.actionsOf[document] ?? NO_ACTIONS, asksForMany);
    const cover = found / (found + MISSING_WEIGHT * Math.max(0, lost));
    covers.scores[document] = cover * Math.min(1, sure / SURE_EVIDENCE) * factor;
  }
  return covers;
}

function certaintyOfWord(index: LexicalIndex, word: string): Float32Array {
  const certainties = new Float32Array(index.tools.length);
  raise(index, index.vocabulary.find(word), 1, certainties);
  for (const synonym of synonymsOf(word))
    raise(index, index.vocabulary.find(synonym), SYNONYM_CERTAINTY, certainties);
  for (const { term, similarity } of index.vocabulary.similar(word))
    if (similarity >= MIN_SPELLING_SIMILARITY) raise(index, term, similarity ** 2, certainties);
  return certainties;
}

/** Certainties of a hint by document. The name of the server does not count, since hints are about parameters. */
function certaintyOfHint(index: LexicalIndex, stems: readonly string[]): Float32Array {
  const certainties = new Float32Array(index.tools.length);
  for (const word of stems) raise(index, index.vocabulary.find(word), 1, certainties, OWN_FIELDS);
  return certainties;
}

function raise(
  index: LexicalIndex,
  term: number | undefined,
  factor: number,
  certainties: Float32Array,
  fields: number = ALL_FIELDS,
): void {
  if (term === undefined) return;
  const end = index.starts[term + 1] ?? 0;
  for (let at = index.starts[term] ?? 0; at < end; at++) {
    const document = index.documents[at] ?? 0;
    const certainty = factor * (MASK_CERTAINTY[(index.masks[at] ?? 0) & fields] ?? 0);
    if (certainty > (certainties[document] ?? 0)) certainties[document] = certainty;
  }
}
