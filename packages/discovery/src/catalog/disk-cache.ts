import { readFile } from "node:fs/promises";
import path from "node:path";
import { FORMAT, type FactsEntry, type FactsStore } from "./facts-store.ts";

/** The content of a cache file, which only {@link saveCache} writes. Paths are relative. */
interface CacheFile {
  format: string;
  entries: [file: string, entry: FactsEntry][];
}

function withPaths([file, entry]: [string, FactsEntry], convert: (file: string) => string) {
  const dependencies = entry.dependencies.map(([name, stamp]): [string, string] => [convert(name), stamp]);
  return [convert(file), { ...entry, dependencies }] satisfies [string, FactsEntry];
}

/** Loads the cache of an earlier process. A file that is missing, broken or in another format is ignored. */
export async function loadCache(file: string, root: string, store: FactsStore): Promise<void> {
  try {
    const { format, entries } = JSON.parse(await readFile(file, "utf8")) as CacheFile;
    if (format !== FORMAT) return;
    for (const entry of entries) store.entries.set(...withPaths(entry, (name) => path.resolve(root, name)));
  } catch {
    // The cache only saves time.
  }
}

/** Replaces the cache file atomically. A file that can't be written is ignored: the next process reads everything. */
export async function saveCache(
  file: string,
  root: string,
  store: FactsStore,
  isKept: (file: string) => boolean,
): Promise<void> {
  const content: CacheFile = {
    format: FORMAT,
    entries: [...store.entries]
      .filter(([name]) => isKept(name))
      .map((entry) => withPaths(entry, (name) => path.relative(root, name))),
  };
  try {
    const { replaceFile } = await import("@cem/core/files");
    await replaceFile(file, JSON.stringify(content));
  } catch {
    // The cache only saves time.
  }
}
