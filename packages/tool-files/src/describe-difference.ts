import { diffWordsWithSpace } from "diff";
import { canonicalJson } from "./canonical-json.ts";

/** More differences than this are counted, not listed. */
const MAX_DIFFERENCES = 100;
const MAX_DEPTH = 40;
const MAX_VALUE_CHARACTERS = 2_000;
/** Unchanged text shown beside a change. */
const CONTEXT_CHARACTERS = 40;
/** Texts that differ in more words than this are shown whole. */
const MAX_EDITED_WORDS = 1_000;

/** One place where two definitions differ. */
export interface Difference {
  /** `description`, `inputSchema.properties.city.type`. */
  place: string;
  kind: "added" | "removed" | "changed";
  /**
   * For people: `[-old-]{+new+}` with some of the text around it. Characters that can't be seen are written as
   * `<U+200B>`.
   */
  text: string;
}

/** Where two JSON values differ, and how. Objects are compared by key, all else by position. */
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
  const place = showUnseen(path.join("."));
  if (before === undefined) found.push({ place, kind: "added", text: `{+${showValue(after)}+}` });
  else if (after === undefined) found.push({ place, kind: "removed", text: `[-${showValue(before)}-]` });
  else if (isComposite(before) && isComposite(after) && path.length < MAX_DEPTH) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(ownValue(before, key), ownValue(after, key), [...path, key], found);
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

function ownValue(value: object, key: string): unknown {
  return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}

/** The changed words, and a little of what stands around them. */
function showEdit(before: string, after: string): string {
  const parts = diffWordsWithSpace(before, after, { maxEditLength: MAX_EDITED_WORDS });
  if (parts === undefined) return `[-${showValue(before)}-]{+${showValue(after)}+}`;
  return parts
    .map(({ value, added, removed }, index) => {
      if (added) return `{+${shorten(value)}+}`;
      if (removed) return `[-${shorten(value)}-]`;
      return showUnseen(aroundChange(value, index > 0, index < parts.length - 1));
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

/** Says how much it leaves out, so that nothing hides behind a long beginning. */
function shorten(text: string): string {
  const shown = showUnseen(text.slice(0, MAX_VALUE_CHARACTERS).toWellFormed());
  const hidden = text.length - MAX_VALUE_CHARACTERS;
  return hidden > 0 ? `${shown}… (${hidden} more characters)` : shown;
}

/** Writes characters that can't be seen by their numbers. */
export function showUnseen(text: string): string {
  return text.replace(
    /(?!\n)[\p{Cc}\p{Cf}\p{DI}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`,
  );
}
