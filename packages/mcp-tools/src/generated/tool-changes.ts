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
      const { compareWithLock } = await import("@cem/tool-files");
      const { added, removed, changed } = compareWithLock(definitionsOf(list), lock);
      const byName = new Map(changed.map((change) => [change.name, change]));
      const comparison = { added, removed, changed: byName };
      known.set(list, { lock, comparison });
      return comparison;
    },
  };
}

/** The definitions of a list, as the server sent them. */
export function definitionsOf(list: ToolList): unknown[] {
  return list.tools.map(({ definition }) => definition);
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
