import { CemError } from "@cem/core";
import type { ToolList } from "@cem/mcp-client";
import type { LockComparison, LockedTool, ServerLock } from "@cem/tool-files";

/** Compares what a server lists with what was accepted, once for each list and lock. */
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

/** The definitions of a list as they came. */
export function definitionsOf(list: ToolList): unknown[] {
  return list.tools.map(({ definition }) => definition);
}

/** What stands in for a tool whose definition changed. */
export function heldBack(
  server: string,
  tool: LockedTool,
  places: readonly string[],
): { reason: string; hint: string } {
  return {
    reason: `server "${server}" changed its definition (${places.slice(0, MAX_PLACES).join(", ")}), so ${tool.definition.name} is held back`,
    hint: `See the difference with  cem generate ${server} , accept it with  cem generate ${server} --accept`,
  };
}

const MAX_PLACES = 3;

/** Refuses a tool, with the way out. */
export function refusal(
  code: string,
  server: string,
  tool: string,
  why: { reason: string; hint: string },
): CemError {
  const sentence = why.reason.charAt(0).toUpperCase() + why.reason.slice(1);
  return new CemError(code, `${sentence}. ${why.hint}`, { details: { server, tool } });
}
