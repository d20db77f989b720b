import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import type { JsonSchema } from "@cem/core";
import type { FactsEntry, FactsStore } from "./facts-store.ts";
import type { SourceFiles, SourceState } from "./source-files.ts";

/** Raised whenever what is read from a file, or how it is written down, changes. */
const FORMAT = "cem-discovery-1";

const line = z.number().int().optional();
const schema = z.custom<JsonSchema>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
);
const link = z.strictObject({ specifier: z.string(), line: z.number() });

const failureSchema = z.strictObject({ kind: z.enum(["broken", "unread"]), message: z.string(), line });

const factsSchema = z.strictObject({
  description: z.string(),
  functions: z.array(
    z.strictObject({
      name: z.string(),
      line: z.number(),
      description: z.string(),
      inputSchema: schema,
      outputSchema: schema.optional(),
      annotations: z
        .strictObject({
          title: z.string().optional(),
          readOnlyHint: z.boolean().optional(),
          destructiveHint: z.boolean().optional(),
          idempotentHint: z.boolean().optional(),
          openWorldHint: z.boolean().optional(),
        })
        .optional(),
      callStyle: z.enum(["object", "positional"]),
      call: z.string(),
      isAsync: z.boolean(),
    }),
  ),
  values: z.array(z.string()),
  hasOnlyTypes: z.boolean(),
  reexports: z.array(
    z.strictObject({ exported: z.string(), imported: z.string(), specifier: z.string(), line: z.number() }),
  ),
  stars: z.array(link),
  links: z.array(link),
  failure: failureSchema.optional(),
});

const cacheSchema = z.strictObject({
  format: z.literal(FORMAT),
  states: z.array(
    z.tuple([
      z.string(),
      z.strictObject({ stamp: z.string(), hash: z.string(), failure: failureSchema.optional() }),
    ]),
  ),
  entries: z.array(
    z.tuple([
      z.string(),
      z.strictObject({
        hash: z.string(),
        dependencies: z.array(z.tuple([z.string(), z.string()])),
        facts: factsSchema,
      }),
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
    for (const [name, state] of found.data.states) sources.states.set(absolute(name), state as SourceState);
    for (const [name, entry] of found.data.entries) {
      const dependencies = entry.dependencies.map(([name, hash]): [string, string] => [absolute(name), hash]);
      store.entries.set(absolute(name), { ...entry, dependencies } as FactsEntry);
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
