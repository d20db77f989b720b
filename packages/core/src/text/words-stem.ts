import { stemmer } from "stemmer";
import { isStopWord } from "./words-stop.ts";
import { splitWords } from "./words.ts";

const ENGLISH = /^[a-z]{3,40}$/;
const MAX_REMEMBERED_STEMS = 50_000;
const remembered = new Map<string, string>();

/** The Porter stem of a lower-case English word: `calculating` gives `calcul`. Other words are returned as they are. */
export function stem(word: string): string {
  const known = remembered.get(word);
  if (known !== undefined) {
    return known;
  }
  if (!ENGLISH.test(word)) {
    return word;
  }
  const result = stemmer(word);
  if (remembered.size >= MAX_REMEMBERED_STEMS) {
    remembered.clear();
  }
  remembered.set(word, result);
  return result;
}

/** The stems of a text's words, in order and without stop words. */
export function splitStems(text: string): string[] {
  const stems: string[] = [];
  for (const word of splitWords(text)) {
    if (!isStopWord(word)) {
      stems.push(stem(word));
    }
  }
  return stems;
}
