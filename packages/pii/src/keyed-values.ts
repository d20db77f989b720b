import { hasWord, spaced, wordSet } from "./context.ts";
import type { Detector, Finding } from "./types.ts";

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
