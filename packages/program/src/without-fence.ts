/** The beginning of a Markdown fence, with the name of a language or none. */
const OPENING = /^(?<before>\s*)(?<fence>`{3,}(?!`)|~{3,}(?!~))[^\r\n`]*(?=\r?\n)/;

/**
 * Takes code out of a Markdown fence that is around all of it. Its lines keep their numbers, so that a message about a line
 * is true of the text that was given.
 */
export function withoutFence(text: string): string {
  const opening = OPENING.exec(text);
  const { before = "", fence = "" } = opening?.groups ?? {};
  const whole = text.trimEnd();
  const from = opening?.[0].length ?? 0;
  if (fence === "" || !whole.endsWith(fence) || whole.length - fence.length <= from) return text;
  return `${before}${whole.slice(from, -fence.length).replace(/(?<![ \t])[ \t]+$/, "")}`;
}
