import tokens from "gpt-tokenizer/bpeRanks/o200k_base";

const BYTES_PER_RANK = 3;

/** The vocabulary as `Vocabulary` reads it. */
export function vocabularyFile(): Buffer {
  const sorted = tokens
    .map((token, rank) => ({ rank, bytes: Buffer.from(token as string).toString("latin1") }))
    .toSorted((one, other) => (one.bytes < other.bytes ? -1 : 1));
  const ranks = Buffer.alloc(sorted.length * BYTES_PER_RANK);
  for (const [index, { rank }] of sorted.entries()) {
    ranks.writeUIntLE(rank, index * BYTES_PER_RANK, BYTES_PER_RANK);
  }
  const lengths = Buffer.from(sorted.map(({ bytes }) => bytes.length));
  return Buffer.concat([ranks, lengths, Buffer.from(sorted.map(({ bytes }) => bytes).join(""), "latin1")]);
}
