/**
 * The character n-grams of a word, padded with a space on both sides: `characterNgrams("get", 3)` gives `" ge"`,
 * `"get"`, `"et "`.
 *
 * @param size - The length of each n-gram, in UTF-16 units.
 */
export function characterNgrams(word: string, size: number): string[] {
  const padded = ` ${word} `;
  const grams: string[] = [];
  for (let at = 0; at + size <= padded.length; at++) {
    grams.push(padded.slice(at, at + size));
  }
  return grams;
}
