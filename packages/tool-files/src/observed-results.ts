import path from "node:path";
import type { JsonValue } from "@cem/core";
import * as z from "zod";
import { withFolderLock } from "./folder-lock.ts";
import { learnOutputSchema } from "./learn-output-schema.ts";
import { readRegularFile, writeWhole } from "./server-folder.ts";
import { type LearnedOutput, learnedOutput } from "./server-lock.ts";

/** Beside the lock: what results were seen to be. It is there only where the user allowed looking at results. */
export const OBSERVED_FILE = "tools.observed.json";

const observedFile = z.object({
  observedVersion: z.literal(1),
  tools: z.record(z.string(), learnedOutput),
});

/** What results were seen to be, by the tool's original name. */
export type ObservedResults = ReadonlyMap<string, LearnedOutput>;

/**
 * Reads what results of a server's tools were seen to be.
 *
 * @returns `undefined` when the user did not allow looking at results, or the file is broken.
 */
export async function readObserved(serverDir: string): Promise<ObservedResults | undefined> {
  try {
    const parsed = observedFile.parse(JSON.parse(await readRegularFile(path.join(serverDir, OBSERVED_FILE))));
    return new Map(Object.entries(parsed.tools));
  } catch {
    return undefined;
  }
}

/** Allows looking at results of a server's tools from now on. */
export async function allowObserving(serverDir: string): Promise<void> {
  await withFolderLock(serverDir, undefined, async () => {
    if ((await readObserved(serverDir)) === undefined) await write(serverDir, new Map());
  });
}

/** Adds results to what was seen before: names and types, no values. Does nothing where looking is not allowed. */
export async function addObserved(
  serverDir: string,
  samples: ReadonlyMap<string, readonly JsonValue[]>,
): Promise<void> {
  await withFolderLock(serverDir, undefined, async () => {
    const seen = await readObserved(serverDir);
    if (seen === undefined) return;
    const all = new Map(seen);
    for (const [tool, results] of samples) all.set(tool, learnOutputSchema(results, seen.get(tool)));
    await write(serverDir, all);
  });
}

async function write(serverDir: string, tools: ObservedResults): Promise<void> {
  const content = { observedVersion: 1, tools: Object.fromEntries(tools) };
  await writeWhole(serverDir, OBSERVED_FILE, `${JSON.stringify(content, null, 2)}\n`);
}
