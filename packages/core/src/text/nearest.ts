import { distance } from "fastest-levenshtein";
import { identifierKey, MAX_WORD_CHARACTERS, splitWords } from "./words.ts";

/** The edit distance. Typed here, since the library is bundled. */
export const editDistance: (one: string, other: string) => number = distance;
const DEFAULT_NEAREST_NAMES = 3;
/** A name is near if it has at most one edit per this many characters. */
const CHARACTERS_PER_EDIT = 3;

/**
 * Finds the candidates nearest to a name, for "did you mean". Ignores the case style (`getWeather`, `get_weather`),
 * mostly ignores the order of words, and tolerates some wrong letters.
 *
 * @param name - The name that does not exist.
 * @param candidates - The names that exist.
 * @param limit - Maximum number of candidates to return.
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
    const length = Math.max(wanted.key.length, offered.key.length);
    if (edits <= Math.floor(length / CHARACTERS_PER_EDIT)) ranked.push({ candidate, edits });
  }
  ranked.sort((a, b) => a.edits - b.edits || (a.candidate < b.candidate ? -1 : 1));
  return ranked.slice(0, limit).map(({ candidate }) => candidate);
}

type Spelling = ReturnType<typeof spelling>;

function spelling(name: string) {
  const short = name.slice(0, MAX_WORD_CHARACTERS);
  return { key: identifierKey(short) || short, sortedKey: splitWords(short).toSorted().join("") || short };
}

function editsBetween(one: Spelling, other: Spelling): number {
  const asWritten = distance(one.key, other.key);
  const reordered = distance(one.sortedKey, other.sortedKey) + 1;
  // Such as `weather` and `weather_today`.
  const isPrefix = one.key.startsWith(other.key) || other.key.startsWith(one.key);
  const contained = other.key.length > 2 && one.key.length > 2 && isPrefix ? 1 : Infinity;
  return Math.min(asWritten, reordered, contained);
}

/** Digits and letters of other scripts, and the letter that each looks like. */
const CONFUSABLE = new Map(
  Object.entries({
    a: "аαɑ4@",
    b: "вьЬβ",
    c: "сϲⅽ",
    d: "ԁⅾ",
    e: "еєε3",
    g: "ɡցԍ",
    h: "һհ",
    i: "іıι!",
    j: "јϳ",
    k: "кκ",
    l: "ⅼ1|ӏ",
    m: "мⅿ",
    n: "ոпη",
    o: "оοօ0",
    p: "рρ",
    q: "ԛզ",
    r: "г",
    s: "ѕ5$",
    t: "тτ7",
    u: "υսц",
    v: "ѵνⅴ",
    w: "ԝѡω",
    x: "хχⅹ",
    y: "уүγ",
    z: "ᴢ2",
  }).flatMap(([letter, others]) => Array.from(others, (other) => [other, letter] as const)),
);
/** Shorter names often differ from another one by a single letter. */
const MIN_EDITED_CHARACTERS = 5;

/**
 * Finds a known name that a name can be mistaken for: one with letters of another script, or with one letter swapped,
 * changed, missing or added.
 *
 * @param known - Names that are trusted.
 * @returns `undefined` when there is none, and for a name that is known itself.
 */
export function findLookAlike(name: string, known: Iterable<string>): string | undefined {
  const names = [...known];
  if (names.includes(name)) return undefined;
  const seen = seenAs(name);
  return names.find((other) => {
    const otherSeen = seenAs(other);
    return seen === otherSeen || (!isNumbered(name, other) && isOneEdit(seen, otherSeen));
  });
}

function seenAs(name: string): string {
  const plain = name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[\p{M}\p{Cf}\p{DI}\s._-]/gu, "");
  const letters = Array.from(plain, (character) => CONFUSABLE.get(character) ?? character).join("");
  return letters.replaceAll("rn", "m").replaceAll("vv", "w");
}

/** Whether two names differ by a number only, as `db-1` and `db-2` do. */
function isNumbered(one: string, other: string): boolean {
  const [base, otherBase] = [one, other].map((name) =>
    name.replace(/(?:(?<![\s._-])[\s._-]+|(?<!\d))\d+$/u, ""),
  );
  return base === otherBase;
}

/** Whether one letter is changed, missing or added, or two adjacent ones are swapped. */
function isOneEdit(one: string, other: string): boolean {
  if (Math.min(one.length, other.length) < MIN_EDITED_CHARACTERS) return false;
  if (distance(one, other) === 1) return true;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  const swapped = one.slice(0, at) + (one[at + 1] ?? "") + (one[at] ?? "") + one.slice(at + 2);
  return swapped === other;
}
