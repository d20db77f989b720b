import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ToolDefinition } from "@cem/core";
import {
  describeTools,
  INDEX_PARAMETERS,
  sortTools,
  type LexicalIndex,
  type Postings,
} from "./lexical-index.ts";
import { rememberWords, wordsOf } from "./remembered-words.ts";
import { Vocabulary } from "./vocabulary.ts";

/** Raised whenever what is indexed, or how it is written down, changes. */
const FORMAT = "cem-selector-1";
const ARRAYS = {
  starts: Uint32Array,
  documents: Uint32Array,
  impacts: Float32Array,
  masks: Uint16Array,
  inverseFrequency: Float32Array,
  fieldsOf: Uint16Array,
  nameWeights: Float32Array,
} as const;
type ArrayName = keyof typeof ARRAYS;
const NAMES = Object.keys(ARRAYS) as ArrayName[];
/** Every array begins at a multiple of this, as the widest of them needs. */
const ALIGNMENT_BYTES = 4;
const HEADER_LENGTH_BYTES = 4;

interface Header {
  format: string;
  hash: string;
  words: string[];
  /** The words of each name of a tool and of its server, in the order of the tools. */
  names: string[];
  lengths: number[];
}

interface FiledIndex extends Postings {
  vocabulary: Vocabulary;
  names: string[];
}

/** Keeps the index of the last large catalog in a file, so that the next process need not build it. */
export class IndexFile {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** `undefined` when there is none for these tools, or it is broken. */
  async read(hash: string, tools: readonly ToolDefinition[]): Promise<LexicalIndex | undefined> {
    const bytes = await readFile(this.#file()).catch(() => undefined);
    const content = bytes === undefined ? undefined : parse(bytes, keyOf(hash));
    if (content === undefined) return undefined;
    const { names, ...postings } = content;
    const sorted = sortTools(tools);
    for (const [at, name] of sorted.flatMap(namesOf).entries()) {
      const words = names[at] ?? "";
      rememberWords(name, words === "" ? [] : words.split(" "));
    }
    return { tools: sorted, ...postings, ...describeTools(sorted) };
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
  const arrays = NAMES.map((name) => index[name]);
  const header: Header = {
    format: FORMAT,
    hash,
    words: [...index.vocabulary.words],
    names: index.tools.flatMap(namesOf).map((name) => wordsOf(name).join(" ")),
    lengths: arrays.map(({ length }) => length),
  };
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(HEADER_LENGTH_BYTES);
  length.writeUInt32LE(text.length);
  const parts: Buffer[] = [length, text, padding(text.length)];
  for (const array of arrays) {
    parts.push(Buffer.from(array.buffer, array.byteOffset, array.byteLength), padding(array.byteLength));
  }
  return Buffer.concat(parts);
}

function namesOf({ server, name, originalName }: ToolDefinition): string[] {
  return [server, name, originalName ?? name];
}

function padding(size: number): Buffer {
  return Buffer.alloc((ALIGNMENT_BYTES - (size % ALIGNMENT_BYTES)) % ALIGNMENT_BYTES);
}

function parse(bytes: Buffer, hash: string): FiledIndex | undefined {
  try {
    const length = bytes.readUInt32LE(0);
    const text = bytes.toString("utf8", HEADER_LENGTH_BYTES, HEADER_LENGTH_BYTES + length);
    const header = JSON.parse(text) as Header;
    if (header.format !== FORMAT || header.hash !== hash) return undefined;
    const vocabulary = new Vocabulary();
    for (const word of header.words) vocabulary.add(word);
    let at = HEADER_LENGTH_BYTES + length + padding(length).length;
    const take = <Name extends ArrayName>(name: Name): InstanceType<(typeof ARRAYS)[Name]> => {
      const type = ARRAYS[name];
      const size = (header.lengths[NAMES.indexOf(name)] ?? 0) * type.BYTES_PER_ELEMENT;
      if (at + size > bytes.length) throw new RangeError("The file was cut off.");
      const copy = new Uint8Array(bytes.subarray(at, at + size)).buffer;
      at += size + padding(size).length;
      return new type(copy) as InstanceType<(typeof ARRAYS)[Name]>;
    };
    const postings = {
      starts: take("starts"),
      documents: take("documents"),
      impacts: take("impacts"),
      masks: take("masks"),
      inverseFrequency: take("inverseFrequency"),
      fieldsOf: take("fieldsOf"),
      nameWeights: take("nameWeights"),
    };
    return { vocabulary, names: header.names, ...postings };
  } catch {
    return undefined;
  }
}
