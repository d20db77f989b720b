import type { Store, StoreKey } from "@cem/core";
import pMap from "p-map";
import { isConflict, MARKED, PIECES_AT_ONCE } from "./shared-copy.ts";
import type { SharedCopy } from "./shared-copy.ts";

const REST: StoreKey = ["marked", "rest"];

/**
 * Removes pieces that no manifest names: what was replaced, and what a machine that was killed had sent. They are marked first,
 * and removed when they are still not named some time later, on the store's own clock. The head is written before, so that who
 * sent pieces and has not named them yet fails to, and sends them again. A name is never used again.
 *
 * @param restMs - That time.
 * @returns how many were removed.
 */
export async function collectGarbage(store: Store, shared: SharedCopy, restMs: number): Promise<number> {
  if ((await store.read(REST)) !== undefined) return 0;
  const marked = await readMarked(store);
  const { head, version } = await shared.readHead();
  if (head?.manifest === undefined) return 0;
  const used = new Set(head.manifest);
  for (const { pieces } of (await shared.readFiles(head)).values()) for (const name of pieces) used.add(name);
  const [unused, removed]: [string[], string[]] = [[], []];
  for await (const name of shared.blobs.names()) {
    if (!used.has(name)) (marked.has(name) ? removed : unused).push(name);
  }
  if (removed.length > 0) {
    try {
      await shared.writeHead({ ...head, sweeps: head.sweeps + 1 }, version);
    } catch (error) {
      // Somebody is at work: another time.
      if (isConflict(error)) return 0;
      throw error;
    }
    await pMap(removed, (name) => shared.blobs.remove(name), { concurrency: PIECES_AT_ONCE });
  }
  await store.write(MARKED, Buffer.from(JSON.stringify(unused)));
  await store.write(REST, Buffer.of(1), { expiresInMs: restMs });
  return removed.length;
}

async function readMarked(store: Store): Promise<ReadonlySet<string>> {
  try {
    const found = await store.read(MARKED);
    const names: unknown = JSON.parse(Buffer.from(found?.value ?? []).toString("utf8") || "[]");
    return new Set(Array.isArray(names) ? names.map(String) : []);
  } catch (error) {
    if (error instanceof SyntaxError) return new Set();
    throw error;
  }
}
