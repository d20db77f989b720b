import { hash } from "node:crypto";
import { serialize } from "node:v8";
import type { ToolDefinition } from "@cem/core";
import { IndexFile } from "./index-file.ts";
import { buildLexicalIndex, type LexicalIndex } from "./lexical-index.ts";
import { SearchRanking } from "./search-ranking.ts";

/** The most catalogs in memory; the least recently used one is evicted. */
const MAX_CATALOGS = 4;
/** The smallest catalog kept on disk. Smaller ones are indexed faster than read. */
const MIN_FILED_TOOLS = 500;

/** An indexed catalog. */
export interface IndexedCatalog {
  readonly index: LexicalIndex;
  readonly ranking: SearchRanking;
}

interface Entry {
  tools: readonly ToolDefinition[];
  /** Digest of the definitions, computed when it is needed. */
  content: () => string;
  catalog: IndexedCatalog;
}

/** A cache of indexes by the content of their catalogs. */
export class CatalogCache {
  readonly #files: IndexFile | undefined;
  #entries: Entry[] = [];

  constructor(folder: string | undefined) {
    this.#files = folder === undefined ? undefined : new IndexFile(folder);
  }

  /** The index of a catalog, from memory, from disk or newly built. */
  async get(tools: readonly ToolDefinition[]): Promise<IndexedCatalog> {
    const known = this.#entries.find((entry) => sameObjects(entry.tools, tools));
    if (known !== undefined) {
      return this.#remember(known);
    }
    const copy = [...tools];
    const content = once(() => hashOf(copy));
    const equal = this.#entries.find(
      (entry) => entry.tools.length === copy.length && entry.content() === content(),
    );
    const catalog = equal?.catalog ?? makeCatalog(await this.#index(copy, content));
    return this.#remember({ tools: copy, content, catalog });
  }

  async #index(tools: readonly ToolDefinition[], content: () => string): Promise<LexicalIndex> {
    const files = tools.length < MIN_FILED_TOOLS ? undefined : this.#files;
    const filed = await files?.read(content(), tools);
    if (filed !== undefined) return filed;
    const index = buildLexicalIndex(tools);
    await files?.write(content(), index);
    return index;
  }

  #remember(entry: Entry): IndexedCatalog {
    const others = this.#entries.filter((other) => other !== entry && other.catalog !== entry.catalog);
    this.#entries = [entry, ...others].slice(0, MAX_CATALOGS);
    return entry.catalog;
  }
}

function once<T>(work: () => T): () => T {
  let done: { value: T } | undefined;
  return () => (done ??= { value: work() }).value;
}

function makeCatalog(index: LexicalIndex): IndexedCatalog {
  return { index, ranking: new SearchRanking(index) };
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
function hashOf(tools: readonly ToolDefinition[]): string {
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
