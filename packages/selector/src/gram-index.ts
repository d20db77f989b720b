/** A text with a similar spelling. */
export interface Alike {
  /** The index of the text among those that were indexed. */
  text: number;
  /** Dice coefficient of the trigrams, 0 to 1. */
  similarity: number;
}

const SPACE = 32;
const CODE_UNITS = 0x1_0000;

/**
 * Finds texts by shared character trigrams, with a space at both ends of each word. Trigrams are numbers and all postings
 * are in one array, since a vocabulary has hundreds of thousands of them.
 */
export class GramIndex {
  readonly #numbers = new Map<number, number>();
  /** The texts with gram `g` stand from `starts[g]` to `starts[g + 1]`. */
  readonly #starts: Uint32Array;
  readonly #texts: Uint32Array;
  readonly #gramCounts: Uint32Array;
  /** How many grams each text shares with the query; all zero between two queries. */
  readonly #shared: Uint32Array;

  /** @param texts - Each a word, or an array of words. */
  constructor(texts: readonly (string | readonly string[])[]) {
    this.#gramCounts = new Uint32Array(texts.length);
    this.#shared = new Uint32Array(texts.length);
    const counts: number[] = [];
    const grams: number[] = [];
    const lastText: number[] = [];
    for (const [text, words] of texts.entries()) {
      const before = grams.length;
      for (const word of typeof words === "string" ? [words] : words) {
        eachGram(word, (code) => {
          const gram = this.#numberOf(code);
          if (lastText[gram] === text) return;
          lastText[gram] = text;
          counts[gram] = (counts[gram] ?? 0) + 1;
          grams.push(gram);
        });
      }
      this.#gramCounts[text] = grams.length - before;
    }
    this.#starts = new Uint32Array(counts.length + 1);
    for (const [gram, count] of counts.entries()) {
      this.#starts[gram + 1] = (this.#starts[gram] ?? 0) + count;
    }
    this.#texts = new Uint32Array(grams.length);
    const next = this.#starts.slice();
    let at = 0;
    for (let text = 0; text < texts.length; text++) {
      for (const end = at + (this.#gramCounts[text] ?? 0); at < end; at++) {
        const gram = grams[at] ?? 0;
        const place = next[gram] ?? 0;
        next[gram] = place + 1;
        this.#texts[place] = text;
      }
    }
  }

  /**
   * Finds the texts similar to a word or words, in no order.
   *
   * @param least - The least Dice coefficient, 0 to 1.
   */
  alike(words: string | readonly string[], least: number): Alike[] {
    const grams = new Set<number>();
    for (const word of typeof words === "string" ? [words] : words) {
      eachGram(word, (code) => grams.add(code));
    }
    const touched: number[] = [];
    for (const code of grams) {
      const gram = this.#numbers.get(code);
      if (gram === undefined) continue;
      const end = this.#starts[gram + 1] ?? 0;
      for (let at = this.#starts[gram] ?? 0; at < end; at++) {
        const text = this.#texts[at] ?? 0;
        const shared = this.#shared[text] ?? 0;
        if (shared === 0) touched.push(text);
        this.#shared[text] = shared + 1;
      }
    }
    const found: Alike[] = [];
    for (const text of touched) {
      const similarity = (2 * (this.#shared[text] ?? 0)) / (grams.size + (this.#gramCounts[text] ?? 0));
      this.#shared[text] = 0;
      if (similarity >= least) found.push({ text, similarity });
    }
    return found;
  }

  #numberOf(code: number): number {
    const known = this.#numbers.get(code);
    if (known !== undefined) return known;
    this.#numbers.set(code, this.#numbers.size);
    return this.#numbers.size - 1;
  }
}

/** The trigrams of ` word ` in UTF-16 units, each as one number; those of ASCII are small integers. */
function eachGram(word: string, found: (code: number) => void): void {
  if (word === "") return;
  let before = SPACE;
  let middle = word.charCodeAt(0);
  for (let at = 1; at <= word.length; at++) {
    const next = at === word.length ? SPACE : word.charCodeAt(at);
    found(codeOf(before, middle, next));
    before = middle;
    middle = next;
  }
}

const ASCII_BITS = 7;
const ASCII_CODES = 1 << (3 * ASCII_BITS);

function codeOf(one: number, two: number, three: number): number {
  return (one | two | three) >> ASCII_BITS === 0
    ? (one << (2 * ASCII_BITS)) | (two << ASCII_BITS) | three
    : ASCII_CODES + (one * CODE_UNITS + two) * CODE_UNITS + three;
}
