import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { crc32 } from "node:zlib";
import type { ToolDefinition } from "@cem/core";
import { assembleIndex, type LexicalIndex, type ToolFacts } from "./lexical-index.ts";
import { INDEX_PARAMETERS, type Postings } from "./postings.ts";
import { Vocabulary } from "./vocabulary.ts";

/** Raised whenever what is indexed, or how it is written down, changes. */
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
/** Every array begins at a multiple of this, as the widest of them needs. */
const ALIGNMENT_BYTES = 4;
const HEADER_LENGTH_BYTES = 4;

interface Header {
  format: string;
  hash: string;
  /** Of all that follows the header. */
  checksum: number;
  /** How long the texts are, in bytes: the vocabulary, then the words of the names, an entry a line. */
  textBytes: [number, number];
  /** How many numbers each array has. */
  lengths: number[];
}

/** Keeps the index of the last large catalog in a file, so that the next process need not build it. */
export class IndexFile {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** `undefined` when there is none for these tools, or it is broken. */
  async read(hash: string, tools: readonly ToolDefinition[]): Promise<LexicalIndex | undefined> {
    try {
      return parse(await readFile(this.#file()), keyOf(hash), tools);
    } catch {
      return undefined;
    }
  }

  /** Replaces the file at once or not at all. One that can't be written is no failure. */
  async write(hash: string, index: LexicalIndex): Promise<void> {
    const file = this.#file();
    const fresh = `${file}.${randomUUID()}`;
    try {
      await mkdir(this.#folder, { recursive: true });
      await writeFile(fresh, serialise(index, keyOf(hash)));
      await rename(fresh, file);
    } catch {
      await rm(fresh, { force: true }).catch(() => undefined);
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

/** The arrays stay views of the file. */
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
