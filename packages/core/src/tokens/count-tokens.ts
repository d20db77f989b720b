import { countPairs } from "./byte-pairs.ts";
import { SPLIT_PATTERN } from "./split-pattern.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Longer pieces of a text get memory of their own. Nearly all are words. */
const MAX_SCRATCH_CHARACTERS = 1024;
const MAX_BYTES_PER_CHARACTER = 3;
const scratch = new Uint8Array(MAX_SCRATCH_CHARACTERS * MAX_BYTES_PER_CHARACTER);
const encoder = new TextEncoder();

/** Counts the tokens of a text. Special tokens such as `<|endoftext|>` are counted as the plain text they are. */
export function countTokens(text: string, vocabulary: Vocabulary): number {
  let tokens = 0;
  for (const [piece] of text.matchAll(SPLIT_PATTERN)) {
    const isLong = piece.length > MAX_SCRATCH_CHARACTERS;
    const bytes = isLong ? encoder.encode(piece) : scratch;
    const length = isLong ? bytes.length : encode(piece);
    tokens += vocabulary.rankOf(bytes, 0, length) === undefined ? countPairs(bytes, length, vocabulary) : 1;
  }
  return tokens;
}

/**
 * Writes the UTF-8 of a piece into the scratch memory. An encoder takes longer for a word than all the rest.
 *
 * @returns its length in bytes.
 */
function encode(piece: string): number {
  for (let at = 0; at < piece.length; at += 1) {
    const code = piece.charCodeAt(at);
    if (code >= 0x80) return encoder.encodeInto(piece, scratch).written;
    scratch[at] = code;
  }
  return piece.length;
}
