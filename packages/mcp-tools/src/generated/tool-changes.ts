import { CemError } from "@cem/core";
import type { ToolList } from "@cem/mcp-client";
import type { ChangedTool, LockComparison, LockedTool, ServerLock } from "@cem/tool-files";

/** What a server lists, compared with what was accepted. */
export interface ListComparison extends Pick<LockComparison, "added" | "removed"> {
  /** Tools whose definition changed, by name. */
  changed: ReadonlyMap<string, ChangedTool>;
}

/** Compares lists with locks. The result for each list and its lock is cached. */
export interface ToolChanges {
  compare(list: ToolList, lock: ServerLock): Promise<ListComparison>;
}

export function createToolChanges(): ToolChanges {
  const known = new WeakMap<ToolList, { lock: ServerLock; comparison: ListComparison }>();
  return {
    async compare(list, lock) {
      const present = known.get(list);
      if (present?.lock === lock) return present.comparison;
      const { added, removed, changed } = await compareDefinitions(list, lock);
      const byName = new Map(changed.map((change) => [change.name, change]));
      const comparison = { added, removed, changed: byName };
      known.set(list, { lock, comparison });
      return comparison;
    },
  };
}

/** Compares what a server lists with its lock. The functions for resources and prompts are ours: they are never changed. */
export async function compareDefinitions(list: ToolList, lock: ServerLock): Promise<LockComparison> {
  const { compareWithLock } = await import("@cem/tool-files");
  const { isServerRequest } = await import("@cem/mcp-client");
  const comparison = compareWithLock(await definitionsOf(list), lock);
  return { ...comparison, changed: comparison.changed.filter(({ name }) => !isServerRequest(name)) };
}

/** The definitions of a list, as the server sent them, and those of the functions for its resources and prompts. */
export async function definitionsOf(list: ToolList): Promise<unknown[]> {
  const { serverRequestDefinitions } = await import("@cem/mcp-client");
  return [...list.tools.map(({ definition }) => definition), ...serverRequestDefinitions(list)];
}

const MAX_LISTED_PLACES = 3;

/** `TOOL_CHANGED`: the definition that the server sends is not the one that was accepted. */
export function toolChanged(
  server: string,
  { definition: { name: tool } }: LockedTool,
  places: readonly string[],
): CemError {
  const changed = places.slice(0, MAX_LISTED_PLACES).join(", ");
  return new CemError(
    "TOOL_CHANGED",
    `Server "${server}" changed the definition of ${tool} (${changed}), which is held back until the change is accepted.`,
    { details: { server, tool, places } },
  );
}
