import type { Finding } from "./types.ts";

/** Shorter values are found by their form or not at all. */
const MIN_CHARACTERS = 5;
/** Values of so many characters with a digit or an `@` need no end of a word around them. */
const MIN_UNBOUND_CHARACTERS = 8;
const WORD = /[\p{L}\p{N}]/u;

/** Finds again the values that a vault holds, wherever they stand, in linear time however many they are. */
export class KnownValues<Entry extends { type: string }> {
  /** Values by their beginnings, longest first. */
  readonly #byBeginning = new Map<string, { value: string; entry: Entry }[]>();

  get isEmpty(): boolean {
    return this.#byBeginning.size === 0;
  }

  add(value: string, entry: Entry): void {
    if (value.length < MIN_CHARACTERS) return;
    const beginning = value.slice(0, MIN_CHARACTERS);
    const same = this.#byBeginning.get(beginning);
    if (same === undefined) return void this.#byBeginning.set(beginning, [{ value, entry }]);
    same.push({ value, entry });
    same.sort((a, b) => b.value.length - a.value.length);
  }

  /**
   * Lists the values in a text.
   *
   * @param isCut - Whether the text is cut, so that its end may be the beginning of a value.
   */
  find(text: string, isCut = false): (Finding & { entry: Entry })[] {
    const found: (Finding & { entry: Entry })[] = [];
    if (this.isEmpty) return found;
    for (let start = 0; start + MIN_CHARACTERS <= text.length; start += 1) {
      const candidates = this.#byBeginning.get(text.slice(start, start + MIN_CHARACTERS));
      if (candidates === undefined) continue;
      const isInside = isInWord(text, start);
      const match = candidates.find(
        ({ value, entry }) =>
          (!isInside || standsOut(value, entry)) &&
          ((text.startsWith(value, start) && (standsOut(value, entry) || !isInWord(text, start + value.length))) ||
          (isCut && text.length - start < value.length && value.startsWith(text.slice(start)))),
      );
      if (match === undefined) continue;
      const end = Math.min(text.length, start + match.value.length);
      found.push({ start, end, type: match.entry.type, entry: match.entry });
      start = end - 1;
    }
    return found;
  }
}

/** Whether a value is found also where letters or digits are joined to it: no word has it in it by chance. */
function standsOut(value: string, { type }: { type: string }): boolean {
  return value.length >= MIN_UNBOUND_CHARACTERS && type !== "NAME" && type !== "ADDRESS" && /[\d@]/.test(value);
}

/** Whether a place lies between two characters of one word. */
function isInWord(text: string, index: number): boolean {
  if (index <= 0 || index >= text.length) return false;
  // A letter after a backslash, as in `\n`, is no part of the word that follows.
  if (text[index - 2] === "\\" && "nrt".includes(text[index - 1] ?? "-")) return false;
  return WORD.test(text[index - 1] ?? "") && WORD.test(text[index] ?? "");
}
