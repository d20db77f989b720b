import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { ToolDefinition } from "@cem/core";
import { buildIndexData, openIndex } from "../catalog/lexical-index.ts";
import { readIndexFile, writeIndexFile } from "../catalog/index-file.ts";
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
