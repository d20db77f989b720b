/**
 * Copies the beginning of a text. Unlike `slice`, whose result refers to the whole text, the copy does not keep the rest in
 * memory.
 */
export function copyBeginning(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return new TextDecoder().decode(new TextEncoder().encode(text.slice(0, maxCharacters)));
}
