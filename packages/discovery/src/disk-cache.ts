import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import type { FactsStore } from "./facts-store.ts";
import type { SourceFiles } from "./source-files.ts";

/** Raised whenever what is read from a file, or how it is written down, changes. */
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

/** Loads what an earlier process found out. A cache that is missing, broken or of another format is no cache. */
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
    // Without a cache, everything is read again.
  }
}

/** Writes a cache that replaces the old one at once or not at all. A cache that can't be written is no failure. */
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
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(temporary, JSON.stringify(content), { mode: 0o600 });
    await rename(temporary, file);
  } catch {
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}
