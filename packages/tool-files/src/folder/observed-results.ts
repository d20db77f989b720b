import path from "node:path";
import type { JsonValue } from "@cem/core";
import { replaceFile } from "@cem/core/files";
import * as z from "zod";
import { learnedOutput, type LearnedOutput, learnOutputSchema } from "../schema/learn-output-schema.ts";
import { readRegularFile, withFolderLock } from "./server-folder.ts";

/** The file of inferred result types, beside the lock. It exists where the user allowed results to be observed. */
export const OBSERVED_FILE = "tools.observed.json";

const observedFile = z.object({
  observedVersion: z.literal(1),
  tools: z.record(z.string(), learnedOutput),
});

/** Inferred result types by the name the server gives the tool. */
export type ObservedResults = ReadonlyMap<string, LearnedOutput>;

/**
 * Reads the inferred result types of a server's tools.
 *
 * @param serverDir - the server's folder.
 * @returns `undefined` when results may not be observed, or the file is invalid.
 */
export async function readObserved(serverDir: string): Promise<ObservedResults | undefined> {
  try {
    const parsed = observedFile.parse(JSON.parse(await readRegularFile(path.join(serverDir, OBSERVED_FILE))));
    return new Map(Object.entries(parsed.tools));
  } catch {
    return undefined;
  }
}

/** Allows results of a server's tools to be observed from now on. */
export async function allowObserving(serverDir: string): Promise<void> {
  await withFolderLock(serverDir, undefined, async () => {
    if ((await readObserved(serverDir)) === undefined) await write(serverDir, new Map());
  });
}

/**
 * Adds results to the inferred result types; their values are not stored. Does nothing where results may not be
 * observed.
 *
 * @param samples - results by the name the server gives the tool.
 */
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
  await replaceFile(path.join(serverDir, OBSERVED_FILE), `${JSON.stringify(content, null, 2)}\n`);
}
