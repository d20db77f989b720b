import { readFile } from "node:fs/promises";
import { leftOutOfBundle } from "../files/left-out.ts";
import { countTokens } from "./count-tokens.ts";
import { Vocabulary } from "./bpe-ranks.ts";

const VOCABULARY_FILE = new URL("../../o200k_base.bin", import.meta.url);
let loading: Promise<TokenCounter> | undefined;

/**
 * Loads the o200k_base vocabulary, once per process: some 10 ms and 4 MB of memory.
 *
 * Special tokens such as `<|endoftext|>` are counted as the plain text they are.
 */
export function loadTokenCounter(): Promise<TokenCounter> {
  loading ??= readFile(VOCABULARY_FILE).then(
    (file) => {
      const vocabulary = new Vocabulary(file);
      return (text) => countTokens(text, vocabulary);
    },
    (cause: unknown) => {
      throw leftOutOfBundle(VOCABULARY_FILE, cause);
    },
  );
  return loading;
}

/** Counts the o200k_base tokens of a text. */
export type TokenCounter = (text: string) => number;

/** Candidates that don't fit are skipped; after this many, the budget counts as spent. */
const MAX_MISFITS = 5;

/** A number of tokens to spend on texts. */
export type TokenBudget = ReturnType<typeof createTokenBudget>;

/** Creates a budget of tokens. The line break after each text counts. */
export function createTokenBudget(tokens: number, count: TokenCounter) {
  let spent = 0;
  return {
    /** The tokens of all texts that were taken. */
    get spent(): number {
      return spent;
    },
    /** Whether a text fits. If so, its tokens are spent. */
    take(text: string): boolean {
      const cost = count(text) + 1;
      if (spent + cost > tokens) return false;
      spent += cost;
      return true;
    },
  };
}

/** The first items whose texts fit together. A few that are too large are left out. */
export function takeFitting<Item>(
  budget: TokenBudget,
  items: readonly Item[],
  textOf: (item: Item) => string,
): Item[] {
  const fitting: Item[] = [];
  let misfits = 0;
  for (const item of items) {
    if (budget.take(textOf(item))) fitting.push(item);
    else misfits += 1;
    if (misfits > MAX_MISFITS) break;
  }
  return fitting;
}
