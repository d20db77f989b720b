import FlatQueue from "flatqueue";
import type { Vocabulary } from "./vocabulary.ts";
import { SPLIT_PATTERN } from "./split-pattern.ts";

/** Larger than any position, so that a rank and a position fit into one number. */
const POSITIONS = 2 ** 32;

/**
 * Merges the bytes of a piece of text to tokens by byte pair encoding, and counts them. Takes n log n steps: a piece can be
 * as long as a text, such as a million spaces that a program printed.
 *
 * @param bytes - Holds the piece in UTF-8.
 * @param length - The piece's length in bytes.
 */
function countPairs(bytes: Uint8Array, length: number, vocabulary: Vocabulary): number {
  /** The parts of the piece as a list: by the position of a part's first byte, that of the next part's. */
  const next = new Uint32Array(length);
  const previous = new Int32Array(length);
  /** The rank of the token that a part makes with the next one; -1 where there is none. */
  const ranks = new Int32Array(length);
  const queue = new FlatQueue();

  const after = (part: number): number => next[part] ?? length;
  const rate = (part: number): void => {
    const other = after(part);
    const rank = other < length ? vocabulary.rankOf(bytes, part, after(other)) : undefined;
    ranks[part] = rank ?? -1;
    // Of equal ranks the first in the text comes first.
    if (rank !== undefined) queue.push(part, rank * POSITIONS + part);
  };

  for (let part = 0; part < length; part += 1) {
    next[part] = part + 1;
    previous[part] = part - 1;
  }
  for (let part = 0; part < length; part += 1) rate(part);
  let parts = length;
  for (let key = queue.peekValue(); key !== undefined; key = queue.peekValue()) {
    const part = queue.pop() ?? 0;
    // Else one of the two was merged with another part meanwhile.
    if (ranks[part] === Math.floor(key / POSITIONS)) {
      merge(part);
      parts -= 1;
    }
  }
  return parts;

  /** Merges a part with the next one. */
  function merge(part: number): void {
    const merged = after(part);
    const following = after(merged);
    next[part] = following;
    if (following < length) previous[following] = part;
    ranks[merged] = -1;
    rate(part);
    const before = previous[part] ?? -1;
    if (before >= 0) rate(before);
  }
}

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
