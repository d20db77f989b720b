import { stemmer } from "stemmer";

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
    if (ASCII.test(plain)) pushMatches(words, plain, ASCII_WORD);
    else pushForeign(words, plain);
  }
  return words;
}

/** Folds the case style of a name: `getWeather`, `get_weather` and `Get weather` all give `getweather`. */
export function identifierKey(name: string): string {
  return splitWords(name).join("");
}

function pushMatches(words: string[], run: string, pattern: RegExp): void {
  for (const word of run.match(pattern) ?? []) words.push(word.slice(0, MAX_WORD_CHARACTERS).toLowerCase());
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
  if (run === "") return;
  // Marks go first: normalising a long run of them takes quadratic time.
  const bare = run.replace(MARK, "").normalize("NFKD").replace(MARK, "");
  const folded = bare.replace(FOLDABLE, (letter) => FOLDED[letter] ?? letter);
  pushMatches(words, folded, ANY_WORD);
}

function pushPairs(words: string[], run: string): void {
  const characters = Array.from(run);
  if (characters.length === 1) words.push(run);
  for (let at = 0; at + 1 < characters.length; at++) words.push(`${characters[at]}${characters[at + 1]}`);
}

/** `user's` becomes `user`, `don't` becomes `dont`. */
function withoutApostrophes(run: string): string {
  return run.replace(/['’]s$/iu, "").replace(/['’]/gu, "");
}

const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again all also am an and any are arent as at be because been before being below between
  both but by can cannot cant could couldnt did didnt do does doesnt doing done dont down during each either else
  ever for from further had hadnt has hasnt have havent having he her here hers herself him himself his how however
  i id if ill im in into is isnt it its itself ive just kindly let lets ll may me might more most must my myself
  neither no nor not now of off on once only onto or other others our ours ourselves out over own per please s same
  shall she should shouldnt since so some such t than thank thanks that the their theirs them themselves then there
  these they this those though through thru to too under until up upon us very via was wasnt we were werent what
  whatever when where whether which while who whom whose why will with within without wont would wouldnt you your
  youre yours yourself yourselves`.split(/\s+/),
);

/** Whether a lower-case English word is a stop word: `the`, `please`, `would`. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

const ENGLISH = /^[a-z]{3,40}$/;
const MAX_REMEMBERED_STEMS = 50_000;
const remembered = new Map<string, string>();

/** The Porter stem of a lower-case English word: `calculating` gives `calcul`. Other words are returned as they are. */
export function stem(word: string): string {
  const known = remembered.get(word);
  if (known !== undefined) return known;
  if (!ENGLISH.test(word)) return word;
  const result = stemmer(word);
  if (remembered.size >= MAX_REMEMBERED_STEMS) remembered.clear();
  remembered.set(word, result);
  return result;
}

/** The stems of a text's words, in order and without stop words. */
export function splitStems(text: string): string[] {
  return splitWords(text)
    .filter((word) => !isStopWord(word))
    .map(stem);
}
