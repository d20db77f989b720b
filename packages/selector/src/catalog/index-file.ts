import { readFile } from "node:fs/promises";
import { deserialize, serialize } from "node:v8";
import type { IndexData } from "./lexical-index.ts";

/** Changes whenever an index of the same tools would differ: in content, weights, or word splitting. */
const FORMAT = "cem-index-1";

/** The content of a file, which only {@link writeIndexFile} writes. */
interface IndexFile {
  format: string;
  key: string;
  data: IndexData;
}

/** Reads the index of an earlier process. @returns `undefined` for a file that is missing, broken or for other tools. */
export async function readIndexFile(file: string, key: string): Promise<IndexData | undefined> {
  try {
    const content = deserialize(await readFile(file)) as IndexFile;
    return content.format === FORMAT && content.key === key ? content.data : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces the file atomically. One that can't be written is ignored: the next process builds the index again. */
export async function writeIndexFile(file: string, key: string, data: IndexData): Promise<void> {
  try {
    const { replaceFile } = await import("@cem/core/files");
    await replaceFile(file, serialize({ format: FORMAT, key, data } satisfies IndexFile));
  } catch {
    // The file only saves time.
  }
}
