import { distance } from "fastest-levenshtein";
import { identifierKey, MAX_WORD_CHARACTERS, splitWords } from "./words.ts";

const DEFAULT_NEAREST_NAMES = 3;
/** A name is near if it has at most one edit per this many characters. */
const CHARACTERS_PER_EDIT = 3;

/**
 * Finds the candidates nearest to a name, for "did you mean". The case style (`getWeather`, `get_weather`) does not
 * matter, the order of words hardly, and some wrong letters are tolerated.
 *
 * @param name - The name that does not exist.
 * @param candidates - The names that exist.
 * @param limit - The most candidates to return.
 * @returns The near candidates, nearest first; empty when none is near.
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

/** The Levenshtein distance of two words. */
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

/** Whether one key is a prefix of the other: `weather` of `weather_today`. */
function isPrefix(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one);
}
