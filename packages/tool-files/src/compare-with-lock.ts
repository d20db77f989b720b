import { type Difference, describeDifferences } from "./describe-difference.ts";
import { readDefinitions } from "./plan-server-files.ts";
import type { LockedTool, ServerLock } from "./server-lock.ts";
import type { RawToolDefinition, SkippedTool } from "./tool-definition.ts";

/** A tool whose definition differs from the locked one. */
export interface ChangedTool {
  /** The name its server gives it. */
  name: string;
  locked: LockedTool;
  definition: RawToolDefinition;
  /** The differences between the two definitions, at least one. */
  differences: Difference[];
}

/** The result of {@link compareWithLock}. */
export interface LockComparison {
  /** Tools that are not in the lock. */
  added: RawToolDefinition[];
  /** Tools of the lock that the server no longer lists. */
  removed: LockedTool[];
  /** Tools whose definition changed. They should not be called before someone accepted the change. */
  changed: ChangedTool[];
  /** Names of the tools that did not change. */
  unchanged: string[];
  /** Entries that are not usable tools. */
  skipped: SkippedTool[];
}

/**
 * Compares the tools that a server lists now with those its files were generated from.
 *
 * @param definitions - the entries of the server's `tools/list` result, unchanged.
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

/** Formats the differences of a changed tool for display: its name, then a line for each difference. */
export function formatDifferences({ name, differences }: ChangedTool): string {
  return [
    name,
    ...differences.map(({ place, text }) => `  ${place}: ${text.replaceAll("\n", "\n    ")}`),
  ].join("\n");
}
