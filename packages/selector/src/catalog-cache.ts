import { hash } from "node:crypto";
import { serialize } from "node:v8";
import type { ToolDefinition } from "@cem/core";
import { IndexFile } from "./index-file.ts";
import { buildLexicalIndex, type LexicalIndex } from "./lexical-index.ts";
import { SearchRanking } from "./search-ranking.ts";

/** Catalogs that stay indexed at once; the one used longest ago goes first. */
const MAX_CATALOGS = 4;
/** Smaller ones are indexed sooner than their file is read. */
const MIN_FILED_TOOLS = 500;

/** A catalog that is ready to be searched. */
export interface IndexedCatalog {
  readonly index: LexicalIndex;
  readonly ranking: SearchRanking;
}

interface Entry {
  tools: readonly ToolDefinition[];
  /** Hash of the definitions; worked out when there is something to compare it with. */
  content: () => string;
  catalog: IndexedCatalog;
}

/** Indexes by the content of their catalog: the same definitions are never indexed twice, changed ones always. */
export class CatalogCache {
  readonly #files: IndexFile | undefined;
  #entries: Entry[] = [];

  constructor(folder: string | undefined) {
    this.#files = folder === undefined ? undefined : new IndexFile(folder);
  }

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

/** Definitions are never changed in place, so the same objects mean the same content. A plain loop: it is run for each query. */
function sameObjects(one: readonly ToolDefinition[], other: readonly ToolDefinition[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) {
    if (one[at] !== other[at]) return false;
  }
  return true;
}

/** Equal hashes mean equal content; equal content that was made another way may have another hash. */
function hashOf(tools: readonly ToolDefinition[]): string {
  return hash("sha256", bytesOf(tools), "hex");
}

function bytesOf(tools: readonly ToolDefinition[]): Buffer | string {
  try {
    // Half the time of `JSON.stringify`.
    return serialize(tools);
  } catch {
    return JSON.stringify(tools);
  }
}
