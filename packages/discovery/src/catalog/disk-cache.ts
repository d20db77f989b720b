import { readFile } from "node:fs/promises";
import path from "node:path";
import { FORMAT, type FactsEntry, type FactsStore } from "./facts-store.ts";

function withPaths([file, entry]: [string, FactsEntry], convert: (file: string) => string) {
  const dependencies = entry.dependencies.map(([name, stamp]): [string, string] => [convert(name), stamp]);
  return [convert(file), { ...entry, dependencies }] satisfies [string, FactsEntry];
}

/** Loads the cache of an earlier process. A file that is missing, broken or in another format is ignored. */
export async function loadCache(file: string, root: string, store: FactsStore): Promise<void> {
  try {
    const content: unknown = JSON.parse(await readFile(file, "utf8"));
    const { format, entries } = content as { format: string; entries: [file: string, entry: FactsEntry][] };
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
  const kept = [...store.entries].filter(([name]) => isKept(name));
  const entries = kept.map((entry) => withPaths(entry, (name) => path.relative(root, name)));
  try {
    const { replaceFile } = await import("@cem/core/files");
    await replaceFile(file, JSON.stringify({ format: FORMAT, entries }));
  } catch {
    // The cache only saves time.
  }
}
