import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";

const MAGIC = Buffer.from("CEMVEC1\n");
const HEADER_BYTES = MAGIC.length + 4;
const KEY_BYTES = 32;
const FLOAT_BYTES = 4;
const MAX_DIMENSIONS = 16_384;
/** The largest file that is read. A larger one is replaced. */
const MAX_FILE_BYTES = 512 * 1024 * 1024;

/** A cache of the vectors of one embedder by the digests of their texts, in one append-only file. */
export class VectorCache {
  readonly #file: string | undefined;
  #vectors: Promise<Map<string, Float32Array>> | undefined;
  #writable: boolean;

  /** @param folder - Folder of the file; without one, vectors are kept in memory only. */
  constructor(embedderId: string, folder: string | undefined) {
    const name = createHash("sha256").update(embedderId).digest("hex").slice(0, 16);
    this.#file = folder === undefined ? undefined : path.join(folder, `vectors-${name}.bin`);
    this.#writable = this.#file !== undefined;
  }

  /** The cached vectors of texts, in order; `undefined` for those that are not cached. */
  async get(texts: readonly string[]): Promise<(Float32Array | undefined)[]> {
    const vectors = await this.#load();
    return texts.map((text) => vectors.get(keyOf(text)));
  }

  /** Adds the vectors of texts. When the file can't be written, they are kept in memory only. */
  async add(texts: readonly string[], added: readonly Float32Array[]): Promise<void> {
    const vectors = await this.#load();
    const isFirst = vectors.size === 0;
    const records: Buffer[] = [];
    for (const [at, vector] of added.entries()) {
      const key = keyOf(texts[at] ?? "");
      if (!vectors.has(key)) {
        vectors.set(key, vector);
        records.push(Buffer.from(key, "hex"), asBytes(vector));
      }
    }
    const dimensions = added[0]?.length ?? 0;
    if (this.#file === undefined || !this.#writable || records.length === 0) return;
    try {
      const { appendPrivately, replaceFile } = await import("@cem/core/files");
      if (isFirst) {
        const size = Buffer.alloc(FLOAT_BYTES);
        size.writeUInt32LE(dimensions);
        await replaceFile(this.#file, Buffer.concat([MAGIC, size, ...records]));
      } else {
        appendPrivately(this.#file, Buffer.concat(records));
      }
    } catch {
      this.#writable = false;
    }
  }

  #load(): Promise<Map<string, Float32Array>> {
    return (this.#vectors ??= readVectors(this.#file));
  }
}

function keyOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function asBytes(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** Reads a file. One that is missing, broken or cut off has no vectors; a vector that is not finite is left out. */
async function readVectors(file: string | undefined): Promise<Map<string, Float32Array>> {
  const vectors = new Map<string, Float32Array>();
  const bytes = file === undefined ? undefined : await readFile(file).catch(() => undefined);
  if (
    bytes === undefined ||
    bytes.length > MAX_FILE_BYTES ||
    !bytes.subarray(0, MAGIC.length).equals(MAGIC)
  ) {
    return vectors;
  }
  const dimensions = bytes.length < HEADER_BYTES ? 0 : bytes.readUInt32LE(MAGIC.length);
  const size = KEY_BYTES + dimensions * FLOAT_BYTES;
  if (dimensions === 0 || dimensions > MAX_DIMENSIONS || (bytes.length - HEADER_BYTES) % size !== 0) {
    return vectors;
  }
  for (let at = HEADER_BYTES; at < bytes.length; at += size) {
    const vector = new Float32Array(dimensions);
    asBytes(vector).set(bytes.subarray(at + KEY_BYTES, at + size));
    if (vector.every(Number.isFinite)) {
      vectors.set(bytes.toString("hex", at, at + KEY_BYTES), vector);
    }
  }
  return vectors;
}
