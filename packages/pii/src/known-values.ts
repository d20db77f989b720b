import { hasWord, spaced, wordSet } from "./context.ts";
import type { Detector, Finding } from "./types.ts";

/** Shorter values are found by their form or not at all. */
const MIN_CHARACTERS = 5;
/** Values of so many characters with a digit or an `@` need no end of a word around them. */
const MIN_UNBOUND_CHARACTERS = 8;
const WORD = /[\p{L}\p{N}]/u;

/** Values that begin alike. */
interface Alike<Entry> {
  /** The lengths that there are, longest first. */
  lengths: number[];
  entries: Map<string, Entry>;
}

/** Finds again the values that a vault holds, wherever they stand, in about linear time however many they are. */
export class KnownValues<Entry extends { type: string }> {
  readonly #byBeginning = new Map<string, Alike<Entry>>();

  add(value: string, entry: Entry): void {
    if (value.length < MIN_CHARACTERS) return;
    const beginning = value.slice(0, MIN_CHARACTERS);
    let alike = this.#byBeginning.get(beginning);
    if (alike === undefined) this.#byBeginning.set(beginning, (alike = { lengths: [], entries: new Map() }));
    alike.entries.set(value, entry);
    if (alike.lengths.includes(value.length)) return;
    alike.lengths.push(value.length);
    alike.lengths.sort((a, b) => b - a);
  }

  /**
   * Lists the values in a text.
   *
   * @param isCut - Whether the text is cut, so that its end may be the beginning of a value.
   */
  find(text: string, isCut = false): (Finding & { entry: Entry })[] {
    const found: (Finding & { entry: Entry })[] = [];
    if (this.#byBeginning.size === 0) return found;
    for (let start = 0; start + MIN_CHARACTERS <= text.length; start += 1) {
      const alike = this.#byBeginning.get(text.slice(start, start + MIN_CHARACTERS));
      if (alike === undefined) continue;
      const match = wholeAt(text, start, alike) ?? (isCut ? beginningAt(text, start, alike) : undefined);
      if (match === undefined) continue;
      found.push({ start, type: match.entry.type, ...match });
      start = match.end - 1;
    }
    return found;
  }
}

interface Match<Entry> {
  end: number;
  entry: Entry;
}

function wholeAt<Entry extends { type: string }>(
  text: string,
  start: number,
  { lengths, entries }: Alike<Entry>,
): Match<Entry> | undefined {
  for (const length of lengths) {
    const end = start + length;
    if (end > text.length) continue;
    const value = text.slice(start, end);
    const entry = entries.get(value);
    if (entry === undefined) continue;
    if (standsOut(value, entry) || !(isInWord(text, start) || isInWord(text, end))) return { end, entry };
  }
  return undefined;
}

/** A value whose beginning is all the rest of a text. */
function beginningAt<Entry>(
  text: string,
  start: number,
  { lengths, entries }: Alike<Entry>,
): Match<Entry> | undefined {
  const rest = text.slice(start);
  if (rest.length >= (lengths[0] ?? 0) || isInWord(text, start)) return undefined;
  for (const [value, entry] of entries) if (value.startsWith(rest)) return { end: text.length, entry };
  return undefined;
}

/** Whether a value is found also where letters or digits are joined to it: no word has it in it by chance. */
function standsOut(value: string, { type }: { type: string }): boolean {
  return (
    value.length >= MIN_UNBOUND_CHARACTERS && type !== "NAME" && type !== "ADDRESS" && /[\d@]/.test(value)
  );
}

/** Whether a place lies between two characters of one word. */
function isInWord(text: string, index: number): boolean {
  if (index <= 0 || index >= text.length) return false;
  // A letter after a backslash, as in `\n`, is no part of the word that follows.
  if (text[index - 2] === "\\" && "nrt".includes(text[index - 1] ?? "-")) return false;
  return WORD.test(text[index - 1] ?? "") && WORD.test(text[index] ?? "");
}

/** Words in names of properties whose values may have no form of their own. */
const TELLING = wordSet(
  `pass password passwords passwd passphrase pwd secret key apikey token connection phone phones tel telephone mobile cell
  fax ssn social taxpayer card cards cc pan creditcard cardnumber`,
);
/** In longer texts, words around a value tell what it is. */
const LONG_TEXT_CHARACTERS = 64;

/** Finds what only its surroundings tell: what stands under a telling key, and in longer texts. */
export function createKeyedDetector(): {
  find(text: string, key: string | undefined, detector: Detector): Finding[];
} {
  const isTelling = new Map<string, boolean>();
  return {
    find(text, key, detector) {
      if (text.length > LONG_TEXT_CHARACTERS) return detector.find(text, key);
      if (key === undefined) return [];
      let tells = isTelling.get(key);
      if (tells === undefined) {
        if (isTelling.size > 10_000) isTelling.clear();
        tells = hasWord(spaced(key).toLowerCase(), TELLING);
        isTelling.set(key, tells);
      }
      return tells ? detector.find(text, key) : [];
    },
  };
}
