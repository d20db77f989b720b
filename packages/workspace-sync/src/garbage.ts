import type { Store, StoreKey } from "@cem/core";
import { MARKED } from "./shared-copy.ts";
import type { SharedCopy } from "./shared-copy.ts";

const REST: StoreKey = ["marked", "rest"];

/**
 * Removes pieces that no manifest names: what was replaced, and what a machine that was killed had sent. They are marked first,
 * and removed when they are still not named some time later, on the store's own clock: who read the manifest before, or is about
 * to write one, is done by then. A name is never used again.
 *
 * @param restMs - That time.
 * @returns how many were removed.
 */
export async function collectGarbage(store: Store, shared: SharedCopy, restMs: number): Promise<number> {
  if ((await store.read(REST)) !== undefined) return 0;
  const marked = await readMarked(store);
  const used = new Set<string>();
  const { head } = await shared.readHead();
  if (head?.manifest !== undefined) {
    for (const name of head.manifest) used.add(name);
    for (const { pieces } of (await shared.readFiles(head)).values()) for (const name of pieces) used.add(name);
  }
  let removed = 0;
  const unused: string[] = [];
  for await (const name of shared.blobs.names()) {
    if (used.has(name)) continue;
    if (!marked.has(name)) unused.push(name);
    else {
      await shared.blobs.remove(name);
      removed += 1;
    }
  }
  await store.write(MARKED, Buffer.from(JSON.stringify(unused)));
  await store.write(REST, Buffer.of(1), { expiresInMs: restMs });
  return removed;
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
