import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import writeFileAtomic from "write-file-atomic";
import { z } from "zod";
import type { FactsStore } from "./facts-store.ts";
import type { SourceFiles } from "./source-files.ts";

/** Changes whenever what is read from a file, or how it is stored, changes. */
const FORMAT = "cem-discovery-1";

const functionSchema = z.looseObject({
  name: z.string(),
  line: z.number(),
  description: z.string(),
  inputSchema: z.looseObject({}),
  callStyle: z.enum(["object", "positional"]),
  call: z.string(),
  isAsync: z.boolean(),
});
const linkSchema = z.looseObject({ specifier: z.string(), line: z.number() });

const factsSchema = z.looseObject({
  description: z.string(),
  functions: z.array(functionSchema),
  values: z.array(z.string()),
  hasOnlyTypes: z.boolean(),
  reexports: z.array(
    z.looseObject({ exported: z.string(), imported: z.string(), specifier: z.string(), line: z.number() }),
  ),
  stars: z.array(linkSchema),
  links: z.array(linkSchema),
});

const hashSchema = z.tuple([z.string(), z.string()]);

const cacheSchema = z.strictObject({
  format: z.literal(FORMAT),
  states: z.array(z.tuple([z.string(), z.looseObject({ stamp: z.string(), hash: z.string() })])),
  entries: z.array(
    z.tuple([
      z.string(),
      z.looseObject({ hash: z.string(), dependencies: z.array(hashSchema), facts: factsSchema }),
    ]),
  ),
});

/** Loads the cache of an earlier process. A file that is missing, broken or of another format is ignored. */
export async function loadCache(
  file: string,
  root: string,
  sources: SourceFiles,
  store: FactsStore,
): Promise<void> {
  const absolute = (relative: string) => path.resolve(root, relative);
  try {
    const found = cacheSchema.safeParse(JSON.parse(await readFile(file, "utf8")));
    if (!found.success) return;
    for (const [name, state] of found.data.states) sources.states.set(absolute(name), state);
    for (const [name, entry] of found.data.entries) {
      const dependencies = entry.dependencies.map(([name, hash]): [string, string] => [absolute(name), hash]);
      store.entries.set(absolute(name), { ...entry, dependencies });
    }
  } catch {
    // The cache only saves time.
  }
}

/** Replaces the cache file atomically. A file that can't be written is ignored: the next process reads everything. */
export async function saveCache(
  file: string,
  root: string,
  sources: SourceFiles,
  store: FactsStore,
): Promise<void> {
  const relative = (absolute: string) => path.relative(root, absolute);
  const content = {
    format: FORMAT,
    states: [...sources.states].map(([name, state]) => [relative(name), state]),
    entries: [...store.entries].map(([name, entry]) => [
      relative(name),
      { ...entry, dependencies: entry.dependencies.map(([name, hash]) => [relative(name), hash]) },
    ]),
  };
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFileAtomic(file, JSON.stringify(content), { mode: 0o600, fsync: false });
  } catch {
    // The cache only saves time.
  }
}
