const SMALL =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const SCALES = new Map([
  ["hundred", 100],
  ["thousand", 1_000],
  ["million", 1_000_000],
  ["billion", 1_000_000_000],
]);
const MAX_WORDS = 12;

/** What a number in digits says: `1,200.50`, `.5`, `2e3`. */
export function readDigits(text: string): number | undefined {
  const number = Number(text.replaceAll(",", ""));
  return Number.isFinite(number) ? number : undefined;
}

/** How much a word multiplies the number before it by: `1.5 million`. */
export function scaleOf(word: string): number | undefined {
  return word === "k" ? 1_000 : word === "dozen" ? 12 : SCALES.get(word);
}

/**
 * Reads a number in words from the beginning of a list of words.
 *
 * @returns its value and how many words it took. `undefined` when there is none.
 */
export function readSpelledNumber(words: readonly string[]): { value: number; length: number } | undefined {
  if (words.slice(0, 3).join(" ") === "half a dozen") return { value: 6, length: 3 };
  let total = 0;
  let current = 0;
  let length = 0;
  for (let at = 0; at < Math.min(words.length, MAX_WORDS); at += 1) {
    const parts = (words[at] ?? "").split("-");
    const isArticle = at === 0 && parts[0] === "a" && scaleOf(words[1] ?? "") !== undefined;
    if (isArticle || (parts[0] === "and" && length > 0 && current % 100 === 0 && isNumberWord(words[at + 1])))
      continue;
    if (!parts.every(isNumberWord)) break;
    for (const part of parts) {
      const scale = scaleOf(part);
      if (scale === undefined) current += valueOf(part);
      else if (scale <= 100) current = (current || 1) * scale;
      else {
        total += (current || 1) * scale;
        current = 0;
      }
    }
    length = at + 1;
  }
  return length === 0 ? undefined : { value: total + current, length };
}

function isNumberWord(word: string | undefined): boolean {
  return (
    word !== undefined &&
    word !== "k" &&
    (SMALL.includes(word) || TENS.includes(word) || scaleOf(word) !== undefined)
  );
}

function valueOf(word: string): number {
  const ten = TENS.indexOf(word);
  return ten >= 0 ? (ten + 2) * 10 : SMALL.indexOf(word);
}
