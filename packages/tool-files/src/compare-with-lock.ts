import { type Difference, describeDifferences } from "./describe-difference.ts";
import { readDefinitions } from "./plan-server-files.ts";
import type { LockedTool, ServerLock } from "./server-lock.ts";
import type { RawToolDefinition, SkippedTool } from "./tool-definition.ts";

/** A tool whose definition is not the one that was accepted. */
export interface ChangedTool {
  /** Its original name. */
  name: string;
  locked: LockedTool;
  definition: RawToolDefinition;
  /** Where and how the two differ; never empty. */
  differences: Difference[];
}

export interface LockComparison {
  /** Tools that are not in the lock. */
  added: RawToolDefinition[];
  /** Tools of the lock that the server no longer lists. */
  removed: LockedTool[];
  /** Tools to hold back until someone accepts the change. */
  changed: ChangedTool[];
  /** Original names of those that are as they were. */
  unchanged: string[];
  /** Entries that are no usable tools. */
  skipped: SkippedTool[];
}

/**
 * Compares what a server says now with what its files were written from.
 *
 * @param definitions the entries of its `tools/list`, as they came.
 */
export function compareWithLock(definitions: readonly unknown[], lock: ServerLock): LockComparison {
  const { usable, skipped } = readDefinitions(definitions);
  const locked = new Map(lock.tools.map((tool) => [tool.definition.name, tool]));
  const comparison: LockComparison = { added: [], removed: [], changed: [], unchanged: [], skipped };
  for (const [name, { definition, sha256 }] of usable) {
    const before = locked.get(name);
    if (before === undefined) comparison.added.push(definition);
    else if (before.sha256 === sha256) comparison.unchanged.push(name);
    else {
      const differences = describeDifferences(before.definition, definition);
      comparison.changed.push({ name, locked: before, definition, differences });
    }
  }
  comparison.removed = lock.tools.filter((tool) => !usable.has(tool.definition.name));
  return comparison;
}

/** A changed tool's differences, one line each, for people. */
export function formatDifferences({ name, differences }: ChangedTool): string {
  return [
    name,
    ...differences.map(({ place, text }) => `  ${place}: ${text.replaceAll("\n", "\n    ")}`),
  ].join("\n");
}
