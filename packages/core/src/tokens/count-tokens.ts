import type { Vocabulary } from "./bpe-ranks.ts";
import { SPLIT_PATTERN } from "./split-pattern.ts";

/** A piece can be as long as the text, such as a million spaces. Longer pieces are counted in parts: no token is this long. */
const MAX_PIECE_BYTES = 256;
/** For the parts of a piece: where each begins and the last ends, and the rank of the token that each forms with the next. */
const starts = new Uint16Array(MAX_PIECE_BYTES + 1);
const ranks = new Int32Array(MAX_PIECE_BYTES);
const NO_TOKEN = 0x7fff_ffff;

/** Merges the bytes of a piece of text into tokens by byte pair encoding, and counts them. */
function countPairs(bytes: Uint8Array, vocabulary: Vocabulary): number {
  let parts = bytes.length;
  const rate = (part: number): void => {
    const rank =
      part < parts - 1 ? vocabulary.rankOf(bytes, starts[part] ?? 0, starts[part + 2] ?? 0) : undefined;
    ranks[part] = rank ?? NO_TOKEN;
  };
  for (let at = 0; at <= parts; at += 1) starts[at] = at;
  for (let part = 0; part < parts; part += 1) rate(part);
  for (;;) {
    // Among equal ranks, the first in the text is merged first.
    let lowest = 0;
    for (let part = 1; part < parts; part += 1) if ((ranks[part] ?? 0) < (ranks[lowest] ?? 0)) lowest = part;
    if (ranks[lowest] === NO_TOKEN) return parts;
    starts.copyWithin(lowest + 1, lowest + 2, parts + 1);
    ranks.copyWithin(lowest + 1, lowest + 2, parts);
    parts -= 1;
    rate(lowest);
    if (lowest > 0) rate(lowest - 1);
  }
}

/** Longer pieces get memory of their own. Nearly all pieces are words. */
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
    if (vocabulary.rankOf(bytes, 0, length) !== undefined) tokens += 1;
    else
      for (let at = 0; at < length; at += MAX_PIECE_BYTES)
        tokens += countPairs(bytes.subarray(at, Math.min(length, at + MAX_PIECE_BYTES)), vocabulary);
  }
  return tokens;
}

/**
 * Writes the UTF-8 of a piece into the scratch memory. For a word, calling a TextEncoder would take longer than all the
 * rest.
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
