import { distance } from "fastest-levenshtein";
import { identifierKey, MAX_WORD_CHARACTERS, splitWords } from "./words.ts";

const DEFAULT_NEAREST_NAMES = 3;
/** One edit for each so many characters still counts as near. */
const CHARACTERS_PER_EDIT = 3;

/**
 * The candidates that `name` may have been meant to be, nearest first, for "did you mean". Case styles are one
 * (`getWeather`, `get_weather`), the order of words does not matter, and a few wrong letters are forgiven. Empty
 * when nothing is near.
 */
export function nearest(
  name: string,
  candidates: Iterable<string>,
  limit: number = DEFAULT_NEAREST_NAMES,
): string[] {
  const wanted = spelling(name);
  const ranked: { candidate: string; edits: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const offered = spelling(candidate);
    const edits = editsBetween(wanted, offered);
    if (edits <= Math.floor(Math.max(wanted.key.length, offered.key.length) / CHARACTERS_PER_EDIT)) {
      ranked.push({ candidate, edits });
    }
  }
  ranked.sort((a, b) => a.edits - b.edits || (a.candidate < b.candidate ? -1 : 1));
  return ranked.slice(0, limit).map(({ candidate }) => candidate);
}

/** How many letters must be added, removed or replaced to turn one word into the other. */
export function editDistance(one: string, other: string): number {
  return distance(one, other);
}

interface Spelling {
  key: string;
  sortedKey: string;
}

function spelling(name: string): Spelling {
  const short = name.slice(0, MAX_WORD_CHARACTERS);
  return { key: identifierKey(short) || short, sortedKey: splitWords(short).toSorted().join("") || short };
}

function editsBetween(one: Spelling, other: Spelling): number {
  const asWritten = distance(one.key, other.key);
  const reordered = distance(one.sortedKey, other.sortedKey) + 1;
  const contained = other.key.length > 2 && one.key.length > 2 && isPrefix(one.key, other.key) ? 1 : Infinity;
  return Math.min(asWritten, reordered, contained);
}

/** `weather` for `weather_today`, and the other way round. */
function isPrefix(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one);
}
