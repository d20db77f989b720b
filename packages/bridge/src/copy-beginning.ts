/**
 * Copies the beginning of a text. Unlike `slice`, whose result refers to the whole text, the copy does not keep the rest in
 * memory.
 */
export function copyBeginning(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return Buffer.from(text.slice(0, maxCharacters)).toString();
}
