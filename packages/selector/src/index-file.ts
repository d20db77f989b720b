import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { crc32 } from "node:zlib";
import type { ToolDefinition } from "@cem/core";
import { assembleIndex, type LexicalIndex, type ToolFacts } from "./lexical-index.ts";
import { INDEX_PARAMETERS, type Postings } from "./postings.ts";
import { Vocabulary } from "./vocabulary.ts";

/** Changes whenever what is indexed, or how it is stored, changes. */
const FORMAT = "cem-selector-2";
const ARRAYS = {
  starts: Uint32Array,
  documents: Uint32Array,
  impacts: Float32Array,
  masks: Uint16Array,
  inverseFrequency: Float32Array,
  fieldsOf: Uint16Array,
  nameWeights: Float32Array,
  order: Uint32Array,
  serverOf: Uint32Array,
  actionsOf: Uint16Array,
  verbClassesOf: Uint16Array,
} as const;
type ArrayName = keyof typeof ARRAYS;
const NAMES = Object.keys(ARRAYS) as ArrayName[];
/** Arrays begin at multiples of this, as the widest element type requires. */
const ALIGNMENT_BYTES = 4;
const HEADER_LENGTH_BYTES = 4;

interface Header {
  format: string;
  hash: string;
  /** CRC-32 of everything after the header. */
  checksum: number;
  /** Sizes of the texts in bytes: the vocabulary and the words of the names, one entry per line. */
  textBytes: [number, number];
  /** Number of elements of each array. */
  lengths: number[];
}

/** Keeps the index of the last large catalog in a file for the next process. */
export class IndexFile {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Reads the index of a catalog; `undefined` when the file is missing, broken or of another catalog. */
  async read(hash: string, tools: readonly ToolDefinition[]): Promise<LexicalIndex | undefined> {
    try {
      return parse(await readFile(this.#file()), keyOf(hash), tools);
    } catch {
      return undefined;
    }
  }

  /** Replaces the file atomically. A file that can't be written is ignored. */
  async write(hash: string, index: LexicalIndex): Promise<void> {
    try {
      const { replaceFile } = await import("@cem/core/files");
      await replaceFile(this.#file(), serialise(index, keyOf(hash)));
    } catch {
      // The file only saves time.
    }
  }

  #file(): string {
    return path.join(this.#folder, "index.bin");
  }
}

function keyOf(hash: string): string {
  return createHash("sha256").update(hash).update(INDEX_PARAMETERS).digest("hex");
}

function serialise(index: LexicalIndex, hash: string): Buffer {
  const vocabulary = Buffer.from(index.vocabulary.words.join("\n"));
  const names = Buffer.from(index.names.words.join("\n"));
  const arrays = NAMES.map((name) => index[name]);
  const body = Buffer.concat([
    ...aligned(Buffer.concat([vocabulary, names])),
    ...arrays.flatMap((array) => aligned(Buffer.from(array.buffer, array.byteOffset, array.byteLength))),
  ]);
  const header: Header = {
    format: FORMAT,
    hash,
    checksum: crc32(body),
    textBytes: [vocabulary.length, names.length],
    lengths: arrays.map(({ length }) => length),
  };
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(HEADER_LENGTH_BYTES);
  length.writeUInt32LE(text.length);
  return Buffer.concat([length, ...aligned(text), body]);
}

function aligned(bytes: Buffer): Buffer[] {
  return [bytes, Buffer.alloc(paddingOf(bytes.length))];
}

function paddingOf(size: number): number {
  return (ALIGNMENT_BYTES - (size % ALIGNMENT_BYTES)) % ALIGNMENT_BYTES;
}

/** Parses a file. The arrays are views of its bytes. */
function parse(
  bytes: Buffer<ArrayBuffer>,
  hash: string,
  tools: readonly ToolDefinition[],
): LexicalIndex | undefined {
  const length = bytes.readUInt32LE(0);
  const text = bytes.toString("utf8", HEADER_LENGTH_BYTES, HEADER_LENGTH_BYTES + length);
  const header = JSON.parse(text) as Header;
  if (header.format !== FORMAT || header.hash !== hash) return undefined;
  const start = HEADER_LENGTH_BYTES + length + paddingOf(length);
  const body =
    bytes.byteOffset % ALIGNMENT_BYTES === 0 ? bytes.subarray(start) : Buffer.from(bytes.subarray(start));
  if (crc32(body) !== header.checksum) return undefined;
  const [wordBytes, nameBytes] = header.textBytes;
  const vocabulary = new Vocabulary();
  for (const word of body.toString("utf8", 0, wordBytes).split("\n")) vocabulary.add(word);
  const words = body.toString("utf8", wordBytes, wordBytes + nameBytes).split("\n");
  let at = wordBytes + nameBytes + paddingOf(wordBytes + nameBytes);
  const take = <Name extends ArrayName>(name: Name): InstanceType<(typeof ARRAYS)[Name]> => {
    const type = ARRAYS[name];
    const count = header.lengths[NAMES.indexOf(name)] ?? 0;
    const array = new type(body.buffer, body.byteOffset + at, count);
    at += array.byteLength + paddingOf(array.byteLength);
    return array as InstanceType<(typeof ARRAYS)[Name]>;
  };
  const numbers: Postings & ToolFacts = {
    starts: take("starts"),
    documents: take("documents"),
    impacts: take("impacts"),
    masks: take("masks"),
    inverseFrequency: take("inverseFrequency"),
    fieldsOf: take("fieldsOf"),
    nameWeights: take("nameWeights"),
    order: take("order"),
    serverOf: take("serverOf"),
    actionsOf: take("actionsOf"),
    verbClassesOf: take("verbClassesOf"),
  };
  return assembleIndex(tools, vocabulary, words, numbers);
}
