import { withoutOverlaps, type TextDetector } from "./detect.ts";
import { traitsOf, type Traits } from "./traits.ts";
import { mayBeEncoded, printedValues, readingsOf } from "./readings.ts";
import type { ValueFinding, Vault } from "./vault.ts";

/** Maximum levels of decoding: JSON in a query string in base64. */
export const MAX_DECODED = 3;
/** Smaller numbers are not a card, phone or identity number. */
export const MIN_NUMBER = 1_000_000;
/** Smaller numbers are not recognized as a code without its key. */
export const MIN_CODE = 10_000;
export const MIN_TEXT_CHARACTERS = 3;
const NONE: ValueFinding[] = [];
/** A word, which no detector finds anything in. */
export const PLAIN_WORD = /^[A-Za-z_]{1,32}$/;
/** Non-personal addresses: localhost, wildcards, masks, and reserved networks. */
const NOBODYS =
  /^(?:(?:127|0|255)\.[\d.]+(?:\/\d+)?|::1?(?:\/\d+)?|10\.0\.0\.0\/8|172\.16\.0\.0\/12|192\.168\.0\.0\/16)$/;

/** Follows the beginning of a longer text: in a message of `JSON.parse`, and in texts that the sandbox cut. */
const CUT = /"\.\.\. is not valid JSON|\s\[Only the first \d/g;
const MAX_CUT_CHARACTERS = 512;

/** The location of a text. */
export interface FindingPlace {
  key?: string | undefined;
  /** Whether the text is truncated, so that its end may be the beginning of a value. */
  isCut?: boolean | undefined;
  /** Whether it was written by code that sees tokens only, which must not learn what the vault knows. */
  isOfCode?: boolean | undefined;
}

/** For shorter texts a search is faster than the cache. */
const MIN_REMEMBERED = 32;
const MAX_REMEMBERED = 8_192;
/** Maximum total size of cached texts, in characters. */
const MAX_REMEMBERED_IN_ALL = 2_000_000;
/** The key of our own results and of what is printed. A text without a key may be a value as a whole: `078051121`. */
export const RESULT_KEY = "value";

/**
 * Caches texts in which no detector finds a value in any reading, since the same text is received, printed, returned and
 * recorded. Shared by all sessions.
 */
export class PlainTexts {
  readonly #byKey = new Map<string | undefined, Set<string>>();
  #characters = 0;

  has(text: string, key: string | undefined): boolean {
    if (text.length < MIN_REMEMBERED) return false;
    if (this.#byKey.get(key)?.has(text) === true) return true;
    return key === RESULT_KEY && this.#byKey.get(undefined)?.has(text) === true;
  }

  add(text: string, key: string | undefined): void {
    if (text.length < MIN_REMEMBERED || text.length > MAX_REMEMBERED) return;
    this.#characters += text.length + (key?.length ?? 0);
    if (this.#characters > MAX_REMEMBERED_IN_ALL) {
      this.#byKey.clear();
      this.#characters = text.length;
    }
    const texts = this.#byKey.get(key) ?? new Set();
    this.#byKey.set(key, texts.add(text));
  }
}

/**
 * Finds values in texts, including encoded ones: those found by a detector and those in a vault.
 *
 * @param hasRules - Whether flow rules need all values that one is similar to.
 */
export function createValueFinder(
  detector: TextDetector,
  vault: Vault,
  hasRules: boolean,
  plain: PlainTexts,
) {
  /**
   * Lists the values in a text, in order, and none within a token.
   *
   * @param depth - How often the text was decoded.
   */
  function find(text: string, place: FindingPlace = {}, depth = 0): ValueFinding[] {
    const { key, isCut, isOfCode = false } = place;
    const printed = isOfCode || vault.size === 0 ? undefined : printedValues(text);
    const mayBeSplit = printed !== undefined && vault.known.mayHold(printed.text);
    const mayBeKnown = !isOfCode && (mayBeSplit || vault.known.mayHold(text));
    const isPlain = plain.has(text, key);
    if (isPlain && !mayBeKnown) return NONE;
    const traits = traitsOf(text);
    // Fast path for most texts, which contain nothing.
    if (!mayBeKnown && !mayBeEncoded(traits) && !detector.mayFind(text, key, traits)) return NONE;
    // A text that equals a value is that value. Only rules need similar ones.
    const whole = mayBeKnown && !hasRules ? vault.whole(text) : undefined;
    if (whole !== undefined) return [{ start: 0, end: text.length, type: whole.type, entry: whole }];
    if (vault.isToken(text)) return NONE;
    const found = isPlain ? [] : detected(text, key, traits);
    const [first] = found;
    if (first?.end === text.length && first.start === 0 && !hasRules) return withoutTokens(text, found);
    const known: ValueFinding[] = mayBeKnown ? vault.known.find(text, isCut) : [];
    if (mayBeKnown) known.push(...cutIn(text));
    if (mayBeSplit)
      for (const { start, end, type, alike } of vault.known.find(printed.text))
        known.push({ ...printed.placeOf(start, end), type, alike });
    const readings = isPlain || depth === MAX_DECODED ? [] : readingsOf(text, traits);
    // Ranges of decoded values are mapped to the encoded text.
    const decoded = readings.flatMap((reading) =>
      find(reading.text, { key, isOfCode }, depth + 1).map(({ start, end, type, entry, alike }) => ({
        ...reading.placeOf(start, end),
        type,
        alike: alike ?? (entry && [entry]),
      })),
    );
    if (found.length + known.length + decoded.length === 0) {
      if (!isPlain && readings.length === 0 && depth < MAX_DECODED) plain.add(text, key);
      return [];
    }
    // A known value takes precedence over a detector's match of a part of it.
    const longer = notWithin(known, found);
    // A discarded finding may have contained a known value adjacent to the next.
    const seen = [...withoutOverlaps([...longer, ...found]), ...known];
    return withoutTokens(text, withoutOverlaps([...notWithin(seen, decoded), ...decoded]));
  }

  /** Finds the beginnings of values where a text was cut. */
  function cutIn(text: string): ValueFinding[] {
    return [...text.matchAll(CUT)].flatMap(({ index: end }) => {
      const from = Math.max(0, end - MAX_CUT_CHARACTERS);
      const last = vault.known.find(text.slice(from, end), true).at(-1);
      return last?.end === end - from ? [{ ...last, start: from + last.start, end }] : [];
    });
  }

  function withoutTokens(text: string, found: ValueFinding[]): ValueFinding[] {
    if (found.length === 0 || !vault.hasTokens) return found;
    const tokens = vault.tokensIn(text).filter(({ entry }) => entry !== undefined);
    if (tokens.length === 0) return found;
    const endBefore = furthestEnds(tokens);
    return found.filter((one) => endBefore(one.end) <= one.start);
  }

  /** Values recognized by their form or context. */
  function detected(text: string, key: string | undefined, traits?: Traits): ValueFinding[] {
    const found = detector.find(text, key, traits);
    return found.length === 0
      ? found
      : found.filter(({ start, end, type }) => type !== "IP" || !NOBODYS.test(text.slice(start, end)));
  }

  /** See {@link TextDetector.findColumns}. */
  const findColumns: TextDetector["findColumns"] = (text, heading) => detector.findColumns(text, heading);
  return { find, detected, findColumns };
}

export type ValueFinder = ReturnType<typeof createValueFinder>;

/** Findings that are not part of a longer one of the others. */
function notWithin(found: ValueFinding[], others: readonly ValueFinding[]): ValueFinding[] {
  if (others.length === 0) return found;
  const endBefore = furthestEnds(others);
  return found.filter(({ start, end }) => endBefore(start) < end && endBefore(start + 1) <= end);
}

/** Returns the furthest end of the ranges that begin before an index; 0 for none. */
function furthestEnds(ranges: readonly { start: number; end: number }[]): (place: number) => number {
  const sorted = ranges.toSorted((a, b) => a.start - b.start);
  let furthest = 0;
  const ends = sorted.map(({ end }) => (furthest = Math.max(furthest, end)));
  return (place) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((sorted[middle]?.start ?? 0) < place) low = middle + 1;
      else high = middle;
    }
    return ends[low - 1] ?? 0;
  };
}
