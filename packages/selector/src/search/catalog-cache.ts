import { readFile } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { deserialize, serialize } from "node:v8";
import type { ToolDefinition } from "@cem/core";
import { buildIndexData, openIndex, type IndexData } from "../catalog/lexical-index.ts";
import { createRanking } from "./search-ranking.ts";

/** Maximum number of catalogs in memory; the least recently used one is evicted. */
const MAX_CATALOGS = 4;
/** Indexing smaller catalogs is faster than writing a file. */
const MIN_KEPT_TOOLS = 1_000;

export type IndexedCatalog = Awaited<ReturnType<typeof createCatalog>>;

interface Entry {
  tools: readonly ToolDefinition[];
  catalog: Promise<IndexedCatalog>;
}

/**
 * Creates a cache of indexes by the content of their catalogs. Indexes come from memory, from the file of an earlier
 * process, or are newly built.
 *
 * @param folder - Folder of the file; without one, indexes are kept in memory only.
 */
export function createCatalogCache(folder: string | undefined) {
  let entries: Entry[] = [];
  return (tools: readonly ToolDefinition[], version: string | undefined): Promise<IndexedCatalog> => {
    // Definitions are never changed in place, and comparing identical objects is fast.
    const known = entries.find((entry) => isDeepStrictEqual(entry.tools, tools));
    const isKept = version !== undefined && tools.length >= MIN_KEPT_TOOLS;
    const file = isKept && folder !== undefined ? path.join(folder, "index.bin") : undefined;
    const entry = { tools: [...tools], catalog: known?.catalog ?? createCatalog(tools, file, version) };
    entries = [entry, ...entries.filter((other) => other !== known)].slice(0, MAX_CATALOGS);
    return entry.catalog;
  };
}

async function createCatalog(
  tools: readonly ToolDefinition[],
  file: string | undefined,
  version: string | undefined,
) {
  // One version has two lists: all tools, and those that can be called.
  const key = `${version} ${tools.length}`;
  let data = file === undefined ? undefined : await readIndexFile(file, key);
  if (data === undefined) {
    data = buildIndexData(tools);
    if (file !== undefined) await writeIndexFile(file, key, data);
  }
  const index = openIndex(tools, data);
  return { index, rank: createRanking(index) };
}

/** Changes whenever an index of the same tools would differ: in content, weights, or word splitting. */
const FORMAT = "cem-index-1";

/** Reads the index of an earlier process. @returns `undefined` for a file that is missing, broken or for other tools. */
async function readIndexFile(file: string, key: string): Promise<IndexData | undefined> {
  try {
    const content = deserialize(await readFile(file)) as { format: string; key: string; data: IndexData };
    return content.format === FORMAT && content.key === key ? content.data : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces the file atomically. One that can't be written is ignored: the next process builds the index again. */
async function writeIndexFile(file: string, key: string, data: IndexData): Promise<void> {
  try {
    const { replaceFile } = await import("@cem/core/files");
    await replaceFile(file, serialize({ format: FORMAT, key, data }));
  } catch {
    // The file only saves time.
  }
}
