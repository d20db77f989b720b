import { ACTION_SETS, actionFactor } from "./actions.ts";
import { fieldMask } from "./document.ts";
import { Expansions, type Expansion } from "./expansions.ts";
import type { Hint } from "./hints.ts";
import type { LexicalIndex } from "./lexical-index.ts";
import { readPart, type Reading } from "./reading.ts";
import { searchWords } from "./search-words.ts";
import { askedVerbClass } from "./verb-classes.ts";

/** Gain of a tool whose whole name is in the text. Tuned over all evaluation sets together, like the other weights. */
const NAME_COVER_WEIGHT = 0.3;
/** The share of the score that depends on the action: reading, writing, deleting, … */
const ACTION_WEIGHT = 0.3;
/** Gain of a tool whose name has a verb of the text's class, and loss of one with only others. */
const VERB_WEIGHT = 0.1;
const HINT_WEIGHT = 0.5;
/** The most rarity of an expansion, as a multiple of the rarity of the word in the text. */
const MAX_EXPANSION_RARITY = 1.5;

const NAME_FIELD = fieldMask(["name"]);

/** Scores of the words of one text so far, by document. */
interface Tally {
  totals: Float32Array;
  /** The sum of the matched words of the name. */
  named: Float32Array;
  word: Float32Array;
  wordInName: Float32Array;
}

/** BM25F with query expansion, adjusted by the actions and verbs of tools. */
export class SearchScorer {
  readonly #index: LexicalIndex;
  readonly #expansions: Expansions;

  constructor(index: LexicalIndex) {
    this.#index = index;
    this.#expansions = new Expansions(index);
  }

  /** Scores a text against every document. */
  score(text: string): Float32Array {
    const reading = readPart(text, this.#index);
    const size = this.#index.tools.length;
    const tally: Tally = {
      totals: new Float32Array(size),
      named: new Float32Array(size),
      word: new Float32Array(size),
      wordInName: new Float32Array(size),
    };
    for (const [word, weight] of searchWords(text, reading, this.#index.vocabulary)) {
      this.#addWord(tally, this.#expansions.of(word), weight, this.#rarityOf(word));
    }
    for (const hint of reading.hints) {
      this.#addHint(tally, hint);
    }
    this.#temper(tally, reading, askedVerbClass(text));
    return tally.totals;
  }

  #rarityOf(word: string): number {
    const term = this.#index.vocabulary.find(word);
    return term === undefined ? Infinity : (this.#index.inverseFrequency[term] ?? 0);
  }

  /** Adds the best of a word's expansions to each document that has any. */
  #addWord(tally: Tally, expansions: readonly Expansion[], weight: number, rarity: number): void {
    const { starts, documents, impacts, masks, inverseFrequency } = this.#index;
    const { totals, named, word, wordInName } = tally;
    const touched: number[] = [];
    for (const { term, factor } of expansions) {
      const own = inverseFrequency[term] ?? 0;
      const inverse = weight * factor * Math.min(own, rarity * MAX_EXPANSION_RARITY);
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

  #addHint(tally: Tally, hint: Hint): void {
    const terms = hint.stems.map((key) => this.#index.vocabulary.find(key));
    const expansions = terms.filter((term) => term !== undefined).map((term) => ({ term, factor: 1 }));
    // The words of a hint are not in the text, so they don't count as words of the name.
    const named = new Float32Array(tally.named.length);
    this.#addWord({ ...tally, named }, expansions, HINT_WEIGHT, Infinity);
  }

  #temper({ totals, named }: Tally, reading: Reading, asked: number): void {
    const { nameWeights, actionsOf, verbClassesOf } = this.#index;
    // Cached by set of actions; 0 where not computed yet.
    const actions = new Float64Array(ACTION_SETS);
    for (let document = 0; document < totals.length; document++) {
      const total = totals[document] ?? 0;
      if (total === 0) continue;
      const offered = actionsOf[document] ?? 0;
      let action = actions[offered] ?? 0;
      if (action === 0) {
        action = actionFactor(reading.actions, offered, false);
        actions[offered] = action;
      }
      const cover = Math.min(1, (named[document] ?? 0) / (nameWeights[document] || Infinity));
      const verbs = verbClassesOf[document] ?? 0;
      const verb = asked === 0 || verbs === 0 ? 0 : (verbs & asked) === 0 ? -VERB_WEIGHT : VERB_WEIGHT;
      totals[document] =
        total * (1 + NAME_COVER_WEIGHT * cover) * (1 - ACTION_WEIGHT * (1 - action)) * (1 + verb);
    }
  }
}
