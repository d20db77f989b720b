import { hash } from "node:crypto";
import { readdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { deserialize, serialize } from "node:v8";
import { toolId, type ToolDefinition } from "@cem/core";
import { buildIndexData, openIndex, type IndexData } from "../catalog/lexical-index.ts";
import { createRanking } from "./search-ranking.ts";

/** Maximum number of catalogs in memory, and of those on disk; the least recently used one is evicted. */
const MAX_CATALOGS = 4;
/** Indexing smaller catalogs is faster than writing a file. */
const MIN_KEPT_TOOLS = 1_000;

export type IndexedCatalog = Awaited<ReturnType<typeof createCatalog>>;

interface Entry {
  tools: readonly ToolDefinition[];
  catalog: Promise<IndexedCatalog>;
}

/** Caches indexes by the content of their catalogs, in memory and, for the next process, in a folder. */
export function createCatalogCache(folder: string | undefined) {
  let entries: Entry[] = [];
  return (tools: readonly ToolDefinition[], version: string | undefined): Promise<IndexedCatalog> => {
    // Definitions are never changed in place, and comparing identical objects is fast.
    const known = entries.find((entry) => isDeepStrictEqual(entry.tools, tools));
    const isKept = version !== undefined && tools.length >= MIN_KEPT_TOOLS;
    // One version has two lists: all tools, and those that can be called.
    const key = isKept ? `${version} ${tools.length}` : undefined;
    const entry = { tools: [...tools], catalog: known?.catalog ?? createCatalog(tools, folder, key) };
    entries = [entry, ...entries.filter((other) => other !== known)].slice(0, MAX_CATALOGS);
    return entry.catalog;
  };
}

async function createCatalog(
  tools: readonly ToolDefinition[],
  folder: string | undefined,
  key: string | undefined,
) {
  let data: IndexData | undefined;
  if (folder !== undefined && key !== undefined) {
    const file = fileOf(folder, key);
    data = await readIndexFile(file, key, tools);
    if (data === undefined) await writeIndexFile(file, key, (data = buildIndexData(tools)));
  }
  const index = openIndex(tools, data ?? buildIndexData(tools));
  return { index, rank: createRanking(index) };
}

/** Changes whenever an index of the same tools would differ: in content, weights, or word splitting. */
const FORMAT = "cem-index-2";
const MAX_FILE_BYTES = 256 * 1024 * 1024;
/** `index-<hash>.bin`: each catalog has a file. */
const INDEX_FILE = /^index-[\da-f]{16}\.bin$/;

function fileOf(folder: string, key: string): string {
  return path.join(folder, `index-${hash("sha256", key).slice(0, 16)}.bin`);
}

/** `undefined` for a file that is missing, broken or for other tools. The folder may come from a stranger. */
async function readIndexFile(
  file: string,
  key: string,
  tools: readonly ToolDefinition[],
): Promise<IndexData | undefined> {
  try {
    const { openUnfollowed } = await import("@cem/core/files");
    await using handle = await openUnfollowed(file);
    const status = await handle.stat();
    if (!status.isFile() || status.size > MAX_FILE_BYTES) return undefined;
    const content: unknown = deserialize(await handle.readFile());
    if (!isLike(content, { format: FORMAT, key, data: buildIndexData([]) })) return undefined;
    const { format, key: itsKey, data } = content;
    return format === FORMAT && itsKey === key && isOf(data, tools) ? data : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a value has the members of another, of the same types. */
function isLike<Model>(value: unknown, model: Model): value is Model {
  if (typeof model !== "object" || model === null) return typeof value === typeof model;
  if (typeof value !== "object" || value === null || value.constructor !== model.constructor) return false;
  if (Array.isArray(value)) return value.every((one) => typeof one === "string" || typeof one === "number");
  if (ArrayBuffer.isView(value)) return true;
  return Object.entries(model).every(([name, member]) => isLike(Reflect.get(value, name), member));
}

/** Whether an index is of these tools in this order, with postings that end. */
function isOf({ ids, order, starts, documents }: IndexData, tools: readonly ToolDefinition[]): boolean {
  const isSame = (at: number, document: number): boolean => {
    const tool = tools[at];
    return tool !== undefined && toolId(tool) === ids[document];
  };
  return (
    order.length === tools.length &&
    order.every(isSame) &&
    starts.every((start, term) => start <= (starts[term + 1] ?? documents.length))
  );
}

/** Replaces the file atomically. One that can't be written is ignored: the next process builds the index again. */
async function writeIndexFile(file: string, key: string, data: IndexData): Promise<void> {
  const folder = path.dirname(file);
  try {
    const { replaceFile } = await import("@cem/core/files");
    await replaceFile(file, serialize({ format: FORMAT, key, data }));
    const names = (await readdir(folder)).filter((name) => INDEX_FILE.test(name));
    const files = await Promise.all(
      names.map(async (name) => ({ name, at: (await stat(path.join(folder, name))).mtimeMs })),
    );
    const old = files.toSorted((one, other) => other.at - one.at).slice(MAX_CATALOGS);
    await Promise.all(old.map(({ name }) => rm(path.join(folder, name), { force: true })));
  } catch {
    // The file only saves time.
  }
}
