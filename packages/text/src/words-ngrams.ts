/**
 * The overlapping runs of `size` characters in a word, its edges marked by a space, so that beginnings and
 * ends count: `characterNgrams("get", 3)` gives `" ge"`, `"get"`, `"et "`.
 */
export function characterNgrams(word: string, size: number): string[] {
  const padded = ` ${word} `;
  const grams: string[] = [];
  for (let at = 0; at + size <= padded.length; at++) {
    grams.push(padded.slice(at, at + size));
  }
  return grams;
}
