/**
 * Copies the beginning of a text. Unlike `slice`, whose result refers to the whole text, the copy does not keep the rest in
 * memory.
 */
export function copyBeginning(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return new TextDecoder().decode(new TextEncoder().encode(text.slice(0, maxCharacters)));
}

const MAX_TITLE_CHARACTERS = 200;
const COMMENT = /^(?:\/\/[^\n]*|\/\*[^]*?\*\/)/;
const IMPORT = /^import\b(?:[^"';]*from)?\s*["'][^"'\n]*["'](?:\s*with\s*\{[^}]*\})?;?/;

/**
 * The title that tells a run from others: a task in one line; of code the first line that is neither an import nor a comment.
 *
 * @returns at most 200 characters.
 */
export function runTitle({ kind, input }: { kind: "task" | "code"; input: string }): string {
  const text = input.trim();
  if (kind === "task") return copyBeginning(text.replaceAll(/\s+/g, " "), MAX_TITLE_CHARACTERS);
  let rest = text;
  for (let before = ""; rest !== before; rest = rest.replace(COMMENT, "").replace(IMPORT, "").trimStart())
    before = rest;
  const [line = ""] = (rest === "" ? text : rest).split("\n", 1);
  return copyBeginning(line.trim(), MAX_TITLE_CHARACTERS);
}
