import { isDeepStrictEqual } from "node:util";
import type { ToolDefinition } from "@cem/core";
import { buildLexicalIndex } from "../catalog/lexical-index.ts";
import { createRanking } from "./search-ranking.ts";

/** The most catalogs in memory; the least recently used one is evicted. */
const MAX_CATALOGS = 4;

export type IndexedCatalog = ReturnType<typeof createCatalog>;

interface Entry {
  tools: readonly ToolDefinition[];
  catalog: IndexedCatalog;
}

/** Creates a cache of indexes by the content of their catalogs. It returns the index of one from memory, or newly built. */
export function createCatalogCache(): (tools: readonly ToolDefinition[]) => IndexedCatalog {
  let entries: Entry[] = [];
  return (tools) => {
    // Definitions are never changed in place, and the same objects are equal at a glance.
    const known = entries.find((entry) => isDeepStrictEqual(entry.tools, tools));
    const entry = { tools: [...tools], catalog: known?.catalog ?? createCatalog(tools) };
    entries = [entry, ...entries.filter((other) => other !== known)].slice(0, MAX_CATALOGS);
    return entry.catalog;
  };
}

function createCatalog(tools: readonly ToolDefinition[]) {
  const index = buildLexicalIndex(tools);
  return { index, rank: createRanking(index) };
}
