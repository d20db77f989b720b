import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";

const MAGIC = Buffer.from("CEMVEC1\n");
const HEADER_BYTES = MAGIC.length + 4;
const KEY_BYTES = 32;
const FLOAT_BYTES = 4;
const MAX_DIMENSIONS = 16_384;
/** Maximum size of a file to read. A larger one is replaced. */
const MAX_FILE_BYTES = 512 * 1024 * 1024;

/** Vectors by the digests of their texts, for one embedder: in one append-only file, or in memory without a folder. */
export function createVectorCache(embedderId: string, folder: string | undefined) {
  const name = createHash("sha256").update(embedderId).digest("hex").slice(0, 16);
  let file = folder === undefined ? undefined : path.join(folder, `vectors-${name}.bin`);
  let loading: Promise<Map<string, Float32Array>> | undefined;
  const load = () => (loading ??= readVectors(file));
  return {
    /** The cached vectors of texts, in order; `undefined` for those that are not cached. */
    async get(texts: readonly string[]) {
      const vectors = await load();
      return texts.map((text) => vectors.get(keyOf(text)));
    },
    /** Adds the vectors of texts. When the file can't be written, they are kept in memory only. */
    async add(texts: readonly string[], added: readonly Float32Array[]) {
      const vectors = await load();
      const isFirst = vectors.size === 0;
      const records: Buffer[] = [];
      for (const [at, vector] of added.entries()) {
        const key = keyOf(texts[at] ?? "");
        if (vectors.has(key)) continue;
        vectors.set(key, vector);
        records.push(Buffer.from(key, "hex"), asBytes(vector));
      }
      if (file === undefined || records.length === 0) return;
      try {
        const { appendPrivately, replaceFile } = await import("@cem/core/files");
        if (isFirst) {
          const size = Buffer.alloc(FLOAT_BYTES);
          size.writeUInt32LE(added[0]?.length ?? 0);
          await replaceFile(file, Buffer.concat([MAGIC, size, ...records]));
        } else appendPrivately(file, Buffer.concat(records));
      } catch {
        file = undefined;
      }
    },
  };
}

function keyOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function asBytes(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** Reads a file. One that is missing, broken or truncated has no vectors; vectors with non-finite numbers are left out. */
async function readVectors(file: string | undefined): Promise<Map<string, Float32Array>> {
  const vectors = new Map<string, Float32Array>();
  const bytes = file === undefined ? undefined : await readFile(file).catch(() => undefined);
  if (bytes === undefined || bytes.length > MAX_FILE_BYTES || bytes.length < HEADER_BYTES) return vectors;
  const dimensions = bytes.readUInt32LE(MAGIC.length);
  const size = KEY_BYTES + dimensions * FLOAT_BYTES;
  const isWhole = bytes.subarray(0, MAGIC.length).equals(MAGIC) && (bytes.length - HEADER_BYTES) % size === 0;
  if (!isWhole || dimensions === 0 || dimensions > MAX_DIMENSIONS) return vectors;
  for (let at = HEADER_BYTES; at < bytes.length; at += size) {
    const vector = new Float32Array(dimensions);
    asBytes(vector).set(bytes.subarray(at + KEY_BYTES, at + size));
    if (vector.every(Number.isFinite)) vectors.set(bytes.toString("hex", at, at + KEY_BYTES), vector);
  }
  return vectors;
}
