/** The longest word, in UTF-16 units. Longer words are cut. */
export const MAX_WORD_CHARACTERS = 64;

const PLAIN_WORD = /^[A-Z]?[a-z]{1,63}$/;
const PLAIN_TEXT = /^[\0-\x7f]*$/;
const PLAIN_RUN = /[A-Za-z0-9]+(?:'[A-Za-z]+)*/g;
const RUN = /[\p{L}\p{N}\p{M}]+(?:['’]\p{L}+)*/gu;
const ASCII = /^[\x20-\x7e]*$/;
const ASCII_WORD = /[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+/g;
const ANY_WORD = /\p{Lu}+(?!\p{Ll})\p{N}*|\p{Lu}?[\p{Ll}\p{Lt}\p{Lm}\p{Lo}]+\p{N}*|\p{N}+/gu;
const MARK = /\p{M}+/gu;

/** Scripts without spaces between words, and Hangul, whose words include particles. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々]+/gu;

/** ASCII forms of letters that Unicode does not decompose into a base letter and a mark. */
const FOLDED: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  Æ: "Ae",
  œ: "oe",
  Œ: "Oe",
  ø: "o",
  Ø: "O",
  ł: "l",
  Ł: "L",
  đ: "d",
  Đ: "D",
  ı: "i",
  ς: "σ",
};
const FOLDABLE = /[ßæÆœŒøØłŁđĐıς]/g;

/**
 * Splits an identifier or prose into lower-case words without accents, in their order:
 * `getHTTPServer_v2 for Zoë's café` gives `get http server v2 for zoe cafe`.
 *
 * Digits stay with the letters before them (`sha256`). Scripts without spaces give overlapping pairs of
 * characters. Runs in linear time for any text.
 */
export function splitWords(text: string): string[] {
  if (PLAIN_WORD.test(text)) return [text.toLowerCase()];
  const words: string[] = [];
  for (const run of text.match(PLAIN_TEXT.test(text) ? PLAIN_RUN : RUN) ?? []) {
    const plain = run.includes("'") || run.includes("’") ? withoutApostrophes(run) : run;
    if (ASCII.test(plain)) {
      pushMatches(words, plain, ASCII_WORD);
    } else {
      pushForeign(words, plain);
    }
  }
  return words;
}

/**
 * Folds the case style of a name: `getWeather`, `get_weather`, `Get weather` and `getweather` all give
 * `getweather`.
 */
export function identifierKey(name: string): string {
  return splitWords(name).join("");
}

function pushMatches(words: string[], run: string, pattern: RegExp): void {
  for (const word of run.match(pattern) ?? []) {
    words.push(word.slice(0, MAX_WORD_CHARACTERS).toLowerCase());
  }
}

function pushForeign(words: string[], run: string): void {
  let end = 0;
  for (const match of run.matchAll(UNSPACED)) {
    pushSpaced(words, run.slice(end, match.index));
    pushPairs(words, match[0].normalize("NFKC").toLowerCase());
    end = match.index + match[0].length;
  }
  pushSpaced(words, run.slice(end));
}

function pushSpaced(words: string[], run: string): void {
  if (run === "") {
    return;
  }
  // Marks go first: normalising a long run of them takes quadratic time.
  const bare = run.replace(MARK, "").normalize("NFKD").replace(MARK, "");
  pushMatches(
    words,
    bare.replace(FOLDABLE, (letter) => FOLDED[letter] ?? letter),
    ANY_WORD,
  );
}

function pushPairs(words: string[], run: string): void {
  const characters = Array.from(run);
  if (characters.length === 1) {
    words.push(run);
  }
  for (let at = 0; at + 1 < characters.length; at++) {
    words.push(`${characters[at]}${characters[at + 1]}`);
  }
}

/** `user's` becomes `user`, `don't` becomes `dont`. */
function withoutApostrophes(run: string): string {
  return run.replace(/['’]s$/iu, "").replace(/['’]/gu, "");
}
