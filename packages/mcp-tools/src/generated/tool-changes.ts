import { CemError } from "@cem/core";
import type { ToolList } from "@cem/mcp-client";
import type { LockComparison, LockedTool, ServerLock } from "@cem/tool-files";

/** A comparison of what a server lists with what was accepted, cached for each pair of list and lock. */
export interface ToolChanges {
  compare(list: ToolList, lock: ServerLock): Promise<LockComparison>;
}

export function createToolChanges(): ToolChanges {
  const known = new WeakMap<ToolList, { lock: ServerLock; comparison: LockComparison }>();
  return {
    async compare(list, lock) {
      const present = known.get(list);
      if (present?.lock === lock) return present.comparison;
      const { compareWithLock } = await import("@cem/tool-files");
      const comparison = compareWithLock(definitionsOf(list), lock);
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
