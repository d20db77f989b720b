import { splitWords, stem } from "@cem/core/text";
import { inverseDocumentFrequency, type LexicalIndex } from "../catalog/lexical-index.ts";
import { queryStems, readPart, type Reading } from "./reading.ts";
import { fieldMask } from "../catalog/document.ts";
import type { TermIndex } from "../catalog/term-index.ts";
import { relatedTo } from "../words/synonyms.ts";
import { ACTION_SETS, actionFactor, askedVerbClass, LISTING } from "../words/verbs.ts";

/** Maximum number of rare words of a text that have to be explained: long texts mention much that no tool does. */
const MAX_EXPLAINED_WORDS = 2;
/** Maximum number of parts of one query that are searched separately. */
export const MAX_PARTS = 64;

function unknownWordScore(index: LexicalIndex): number {
  return inverseDocumentFrequency(index.tools.length, 0);
}

/** The sum of the inverse document frequencies of a text's words: the score of a tool that contains them all. */
export function idealScore(index: LexicalIndex, text: string): number {
  let ideal = 0;
  for (const word of queryStems(text)) ideal += frequencyOf(index, word) ?? relatedScore(index, word);
  return ideal;
}

function frequencyOf(index: LexicalIndex, word: string): number | undefined {
  const term = index.vocabulary.find(word);
  return term === undefined ? undefined : (index.inverseFrequency[term] ?? 0);
}

/** The rarity of a word that no tool has: halfway to that of the rarest related word that a tool has. */
function relatedScore(index: LexicalIndex, word: string): number {
  const unknown = unknownWordScore(index);
  const related = [...relatedTo(word)]
    .map((one) => frequencyOf(index, one))
    .filter((one) => one !== undefined);
  return (unknown + (related.length === 0 ? unknown : Math.max(...related))) / 2;
}

/** The share of a text's words, weighted by rarity and limited to a few rare ones, that the best tool explains, 0 to 1. */
export function explainedShare(index: LexicalIndex, text: string, scores: Float32Array): number {
  const said = Math.min(idealScore(index, text), MAX_EXPLAINED_WORDS * unknownWordScore(index));
  return said === 0 ? 0 : Math.min(1, highest(scores) / said);
}

export function highest(scores: Float32Array): number {
  let top = 0;
  for (let document = 0; document < scores.length; document++) {
    const score = scores[document] ?? 0;
    if (score > top) top = score;
  }
  return top;
}

/** Factor for related words. Tuned over all evaluation sets together, like the other factors. */
const RELATED_FACTOR = 0.35;
const RELATED_OF_KNOWN_FACTOR = 0.25;
/** Factor for similar spellings, multiplied by their similarity. */
const SIMILAR_FACTOR = 0.4;
const MAX_REMEMBERED_WORDS = 10_000;

const TELLING_FIELDS = fieldMask(["name", "title", "server", "summary"]);

/** A term of the catalog that matches a word, with the weight of the match, 0 to 1. */
type Expansion = { term: number; factor: number };

/** Query expansion for one catalog: returns the terms that match a word, related words and other spellings, each once. */
function createExpansions({ vocabulary, fieldsOf }: LexicalIndex): (word: string) => readonly Expansion[] {
  const known = new Map<string, readonly Expansion[]>();
  const expand = (word: string): Expansion[] => {
    const best = new Map<number, number>();
    const add = (term: number | undefined, factor: number): void => {
      if (term !== undefined && factor > (best.get(term) ?? 0)) best.set(term, factor);
    };
    const own = vocabulary.find(word);
    const isTelling = own !== undefined && ((fieldsOf[own] ?? 0) & TELLING_FIELDS) !== 0;
    add(own, 1);
    for (const related of relatedTo(word)) {
      add(vocabulary.find(related), isTelling ? RELATED_OF_KNOWN_FACTOR : RELATED_FACTOR);
    }
    for (const { term, similarity } of vocabulary.similar(word)) add(term, SIMILAR_FACTOR * similarity);
    return [...best].map(([term, factor]) => ({ term, factor }));
  };
  return (word) => {
    const before = known.get(word);
    if (before !== undefined) return before;
    const found = expand(word);
    if (known.size >= MAX_REMEMBERED_WORDS) known.clear();
    known.set(word, found);
    return found;
  };
}

/** Exponent of a word's weight by its role (verb, general noun). */
const READING_EXPONENT = 0.5;
/** Weight of two adjacent words that the catalog writes as one: `event grid`, `eventgrid`. */
const JOINED_WEIGHT = 0.7;

function searchWords(text: string, reading: Reading, vocabulary: TermIndex): Map<string, number> {
  const weights = new Map([...queryStems(text)].map((key) => [key, 1]));
  for (const term of reading.terms) {
    const weight = weights.get(term.stem);
    if (weight !== undefined) weights.set(term.stem, weight * term.weight ** READING_EXPONENT);
  }
  const words = splitWords(text);
  for (const [at, word] of words.slice(0, -1).entries()) {
    const joined = stem(word + (words[at + 1] ?? ""));
    if (vocabulary.find(joined) !== undefined && !weights.has(joined)) weights.set(joined, JOINED_WEIGHT);
  }
  return weights;
}

/** Gain of a tool whose whole name is in the text. Tuned over all evaluation sets together, like the other weights. */
const NAME_COVER_WEIGHT = 0.44;
/** The share of the score that depends on the action: reading, writing, deleting, … */
const ACTION_WEIGHT = 0.3;
/** Gain of a tool whose name has a verb of the text's class, and loss of one with only others. */
const VERB_WEIGHT = 0.1;
/** Gain of a tool whose name means listing, when the text asks for several things. */
const LISTING_WEIGHT = 0.2;
const HINT_WEIGHT = 0.5;

const NAME_FIELD = fieldMask(["name"]);

/** Accumulated scores of the words of one text, by document. */
type Tally = ReturnType<typeof createTally>;

function createTally(size: number) {
  const zeros = (): Float32Array => new Float32Array(size);
  // `named` is the sum of the matched words of the name.
  return { totals: zeros(), named: zeros(), word: zeros(), wordInName: zeros() };
}

/** BM25F with query expansion, adjusted by the actions and verbs of tools: scores a text against every document. */
export function createScorer(index: LexicalIndex): (text: string) => Float32Array {
  const expansionsOf = createExpansions(index);
  return (text) => {
    const reading = readPart(text);
    const tally = createTally(index.tools.length);
    for (const [word, weight] of searchWords(text, reading, index.vocabulary)) {
      addWord(index, tally, expansionsOf(word), weight);
    }
    for (const hint of reading.hints) addHint(index, tally, hint);
    temper(index, tally, reading, askedVerbClass(text));
    return tally.totals;
  };
}

/** Adds the best of a word's expansions to each document that contains any. */
function addWord(index: LexicalIndex, tally: Tally, expansions: readonly Expansion[], weight: number): void {
  const { starts, documents, impacts, masks, inverseFrequency } = index;
  const { totals, named, word, wordInName } = tally;
  const touched: number[] = [];
  for (const { term, factor } of expansions) {
    const own = inverseFrequency[term] ?? 0;
    const inverse = weight * factor * own;
    const end = starts[term + 1] ?? 0;
    for (let at = starts[term] ?? 0; at < end; at++) {
      const document = documents[at] ?? 0;
      const score = inverse * (impacts[at] ?? 0);
      const before = word[document] ?? 0;
      if (before === 0) touched.push(document);
      if (score > before) word[document] = score;
      if (((masks[at] ?? 0) & NAME_FIELD) !== 0 && factor * own > (wordInName[document] ?? 0)) {
        wordInName[document] = factor * own;
      }
    }
  }
  for (const document of touched) {
    totals[document] = (totals[document] ?? 0) + (word[document] ?? 0);
    named[document] = (named[document] ?? 0) + (wordInName[document] ?? 0);
    word[document] = 0;
    wordInName[document] = 0;
  }
}

function addHint(index: LexicalIndex, tally: Tally, stems: readonly string[]): void {
  const terms = stems.map((key) => index.vocabulary.find(key));
  const expansions = terms.filter((term) => term !== undefined).map((term) => ({ term, factor: 1 }));
  // Words of a hint are not in the text, so they don't count as matched words of the name.
  const named = new Float32Array(tally.named.length);
  addWord(index, { ...tally, named }, expansions, HINT_WEIGHT);
}

function temper(index: LexicalIndex, { totals, named }: Tally, reading: Reading, asked: number): void {
  const { nameWeights, actionsOf, verbClassesOf } = index;
  // Cached by set of actions; 0 where not computed yet.
  const actions = new Float64Array(ACTION_SETS);
  for (let document = 0; document < totals.length; document++) {
    const total = totals[document] ?? 0;
    if (total === 0) continue;
    const offered = actionsOf[document] ?? 0;
    const action = (actions[offered] ||= actionFactor(reading.actions, offered));
    const cover = Math.min(1, (named[document] ?? 0) / (nameWeights[document] || Infinity));
    const verbs = verbClassesOf[document] ?? 0;
    const verb = asked === 0 || verbs === 0 ? 0 : (verbs & asked) === 0 ? -VERB_WEIGHT : VERB_WEIGHT;
    const listing = (verbs & asked & LISTING) === 0 ? 0 : LISTING_WEIGHT;
    const gain = (1 + NAME_COVER_WEIGHT * cover) * (1 + verb) * (1 + listing);
    totals[document] = total * gain * (1 - ACTION_WEIGHT * (1 - action));
  }
}
