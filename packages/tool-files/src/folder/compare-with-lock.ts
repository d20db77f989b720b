import { diffWordsWithSpace } from "diff";
import { canonicalJson, isSameJson } from "../canonical-json.ts";
import { escapeInvisible } from "../safe-text.ts";
import { own } from "../schema/keywords.ts";
import type { RawToolDefinition, SkippedTool } from "../tool-definition.ts";
import { readDefinitions } from "./plan-server-files.ts";
import type { LockedTool, ServerLock } from "./server-lock.ts";

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
  /** Tools whose definition changed. They should not be called before someone has accepted the change. */
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
  for (const [name, definition] of usable) {
    const before = locked.get(name);
    if (before === undefined) comparison.added.push(definition);
    else if (isSameJson(before.definition, definition)) comparison.unchanged.push(name);
    else {
      const differences = describeDifferences(before.definition, definition);
      comparison.changed.push({ name, locked: before, definition, differences });
    }
  }
  comparison.removed = lock.tools.filter((tool) => !usable.has(tool.definition.name));
  return comparison;
}

/** More differences than this are counted, not listed. */
const MAX_DIFFERENCES = 100;
const MAX_COMPARED_DEPTH = 40;
const MAX_VALUE_CHARACTERS = 2_000;
const CONTEXT_CHARACTERS = 40;
/** Two texts that differ in more words than this are shown one after the other. */
const MAX_EDITED_WORDS = 1_000;

/** A difference between two definitions. */
export interface Difference {
  /** The path in the definition, such as `inputSchema.properties.city.type`. */
  place: string;
  kind: "added" | "removed" | "changed";
  /**
   * The change for display, as `[-old-]{+new+}` with some unchanged text around it. Invisible characters are written as
   * `<U+200B>`.
   */
  text: string;
}

/** Lists the differences of two JSON values. Objects are compared by key, arrays by index. */
export function describeDifferences(before: unknown, after: unknown): Difference[] {
  const found: Difference[] = [];
  compare(before, after, [], found);
  const rest = found.length - MAX_DIFFERENCES;
  if (rest <= 0) return found;
  const more: Difference = { place: "…", kind: "changed", text: `${rest} more differences` };
  return [...found.slice(0, MAX_DIFFERENCES), more];
}

function compare(before: unknown, after: unknown, path: readonly string[], found: Difference[]): void {
  if (before === after) return;
  const place = escapeInvisible(path.join("."));
  if (before === undefined) found.push({ place, kind: "added", text: `{+${showValue(after)}+}` });
  else if (after === undefined) found.push({ place, kind: "removed", text: `[-${showValue(before)}-]` });
  else if (isComposite(before) && isComposite(after) && path.length < MAX_COMPARED_DEPTH) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(own(before, key), own(after, key), [...path, key], found);
    }
  } else if (typeof before === "string" && typeof after === "string") {
    found.push({ place, kind: "changed", text: showEdit(before, after) });
  } else if (canonicalJson(before) !== canonicalJson(after)) {
    found.push({ place, kind: "changed", text: `[-${showValue(before)}-]{+${showValue(after)}+}` });
  }
}

function isComposite(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function showEdit(before: string, after: string): string {
  const parts = diffWordsWithSpace(before, after, { maxEditLength: MAX_EDITED_WORDS });
  if (parts === undefined) return `[-${showValue(before)}-]{+${showValue(after)}+}`;
  return parts
    .map(({ value, added, removed }, index) => {
      if (added) return `{+${shorten(value)}+}`;
      if (removed) return `[-${shorten(value)}-]`;
      return escapeInvisible(aroundChange(value, index > 0, index < parts.length - 1));
    })
    .join("");
}

function aroundChange(text: string, changeBefore: boolean, changeAfter: boolean): string {
  if (text.length <= CONTEXT_CHARACTERS * 2) return text;
  const start = changeBefore ? text.slice(0, CONTEXT_CHARACTERS) : "";
  const end = changeAfter ? text.slice(-CONTEXT_CHARACTERS) : "";
  return `${start}…${end}`;
}

function showValue(value: unknown): string {
  return shorten(typeof value === "string" ? value : canonicalJson(value));
}

/** Shortens a text and says by how much, so that a reader knows how much is hidden. */
function shorten(text: string): string {
  const shown = escapeInvisible(text.slice(0, MAX_VALUE_CHARACTERS).toWellFormed());
  const hidden = text.length - MAX_VALUE_CHARACTERS;
  return hidden > 0 ? `${shown}… (${hidden} more characters)` : shown;
}
