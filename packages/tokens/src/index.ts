/** Counts the o200k_base tokens of a text. */
export type TokenCounter = (text: string) => number;

/**
 * Loads the o200k_base vocabulary, once per process: about 0.2 s and 60 MB of memory.
 *
 * Special tokens such as `<|endoftext|>` are counted as the plain text they are.
 */
export async function loadTokenCounter(): Promise<TokenCounter> {
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
  return (text) => countTokens(text, PLAIN_TEXT);
}

const PLAIN_TEXT = { disallowedSpecial: new Set<string>() };
