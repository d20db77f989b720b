/** A Markdown fence around a whole text, with the name of a language or none. */
const FENCED = /^(?<before>\s*)(?<fence>`{3,}|~{3,})[^\r\n`]*(?<code>\r?\n[\s\S]*?\r?\n?)[ \t]*\k<fence>\s*$/;

/**
 * Takes code out of a Markdown fence that is around all of it. Its lines keep their numbers, so that a message about a line
 * is true of the text that was given.
 */
export function withoutFence(text: string): string {
  const { before, code } = FENCED.exec(text)?.groups ?? {};
  return code === undefined ? text : `${before}${code}`;
}
