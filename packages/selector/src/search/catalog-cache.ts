import { hash } from "node:crypto";
import { serialize } from "node:v8";
import type { ToolDefinition } from "@cem/core";
import { buildLexicalIndex } from "../catalog/lexical-index.ts";
import { createRanking } from "./search-ranking.ts";

/** The most catalogs in memory; the least recently used one is evicted. */
const MAX_CATALOGS = 4;

/** An indexed catalog. */
export type IndexedCatalog = ReturnType<typeof createCatalog>;

interface Entry {
  tools: readonly ToolDefinition[];
  /** Digest of the definitions, once it was needed. */
  digest?: string;
  catalog: IndexedCatalog;
}

/** Creates a cache of indexes by the content of their catalogs. It returns the index of one from memory, or newly built. */
export function createCatalogCache(): (tools: readonly ToolDefinition[]) => IndexedCatalog {
  let entries: Entry[] = [];
  const remember = (entry: Entry): IndexedCatalog => {
    const others = entries.filter((other) => other !== entry && other.catalog !== entry.catalog);
    entries = [entry, ...others].slice(0, MAX_CATALOGS);
    return entry.catalog;
  };
  return (tools) => {
    const known = entries.find((entry) => sameObjects(entry.tools, tools));
    if (known !== undefined) return remember(known);
    const copy = [...tools];
    const digest = entries.length === 0 ? undefined : digestOf(copy);
    const equal = entries.find(
      (entry) => entry.tools.length === copy.length && (entry.digest ??= digestOf(entry.tools)) === digest,
    );
    const catalog = equal?.catalog ?? createCatalog(copy);
    return remember({ tools: copy, ...(digest !== undefined && { digest }), catalog });
  };
}

function createCatalog(tools: readonly ToolDefinition[]) {
  const index = buildLexicalIndex(tools);
  return { index, rank: createRanking(index) };
}

/** Whether two catalogs have the same objects, which are never changed in place. A plain loop, since it runs for each query. */
function sameObjects(one: readonly ToolDefinition[], other: readonly ToolDefinition[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) {
    if (one[at] !== other[at]) return false;
  }
  return true;
}

/** A digest of the definitions. Equal definitions may have different digests, such as for another order of keys. */
function digestOf(tools: readonly ToolDefinition[]): string {
  return hash("sha256", bytesOf(tools), "hex");
}

function bytesOf(tools: readonly ToolDefinition[]): Buffer | string {
  try {
    // Takes half the time of a canonical or plain JSON.
    return serialize(tools);
  } catch {
    return JSON.stringify(tools);
  }
}
