/** Number of tokens in o200k_base. */
const SIZE = 199_998;
const BYTES_PER_RANK = 3;
const PREFIXES = 2 ** 16;

/** The vocabulary of o200k_base in large buffers: an object for each of its 200,000 tokens would take ten times more. */
export class Vocabulary {
  readonly #file: Uint8Array;
  /** Where the bytes of each token begin in the file, and where the last ones end. */
  readonly #offsets = new Uint32Array(SIZE + 1);
  /** The first token whose first two bytes are these or larger. */
  readonly #first = new Uint32Array(PREFIXES + 1).fill(SIZE);

  /**
   * @param file - Three parts, each in the order of the tokens' bytes: their ranks, three bytes each, lowest byte first;
   *   their lengths, one byte each; their bytes.
   * @throws Error for a file of another size.
   */
  constructor(file: Uint8Array) {
    this.#file = file;
    const end = readOffsets(file, this.#offsets, this.#first);
    if (end !== file.length) throw new Error("The vocabulary of o200k_base is damaged.");
  }

  /** The rank of the token with these bytes; `undefined` where there is none. */
  rankOf(bytes: Uint8Array, start: number, end: number): number | undefined {
    const prefix = prefixOf(bytes, start, end);
    let low = this.#first[prefix] ?? 0;
    let high = this.#first[prefix + 1] ?? 0;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = this.#compare(middle, bytes, start, end);
      if (order === 0) return this.#rankAt(middle);
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return undefined;
  }

  /** Compares a token with bytes whose first two are the same. */
  #compare(token: number, bytes: Uint8Array, start: number, end: number): number {
    const from = this.#offsets[token] ?? 0;
    const length = (this.#offsets[token + 1] ?? 0) - from;
    const common = Math.min(length, end - start);
    for (let at = 2; at < common; at += 1) {
      const difference = (this.#file[from + at] ?? 0) - (bytes[start + at] ?? 0);
      if (difference !== 0) return difference;
    }
    return length - (end - start);
  }

  #rankAt(token: number): number {
    const at = token * BYTES_PER_RANK;
    return (this.#file[at] ?? 0) | ((this.#file[at + 1] ?? 0) << 8) | ((this.#file[at + 2] ?? 0) << 16);
  }
}

/** Fills in where tokens begin. Returns where the last one ends. Separate, since it runs once and unoptimized. */
function readOffsets(file: Uint8Array, offsets: Uint32Array, first: Uint32Array): number {
  let offset = SIZE * (BYTES_PER_RANK + 1);
  let next = 0;
  for (let token = 0; token < SIZE; token += 1) {
    offsets[token] = offset;
    const end = offset + (file[SIZE * BYTES_PER_RANK + token] ?? 0);
    for (const prefix = prefixOf(file, offset, end); next <= prefix; next += 1) first[next] = token;
    offset = end;
  }
  offsets[SIZE] = offset;
  return offset;
}

/** The first two bytes as a number. A single byte sorts before longer sequences that begin with it. */
function prefixOf(bytes: Uint8Array, start: number, end: number): number {
  return ((bytes[start] ?? 0) << 8) | (end - start > 1 ? (bytes[start + 1] ?? 0) : 0);
}
