const WORD = /[\w$\u0080-\uFFFF]/;
const SPACE = /\s/;

/** The end of the string that begins at `start`. An unclosed one ends with its line, or with the code for a template. */
function endOfQuoted(code: string, start: number): number {
  const quote = code[start];
  for (let at = start + 1; at < code.length; at += 1) {
    const character = code[at];
    if (character === "\\") at += 1;
    else if (character === quote || (character === "\n" && quote !== "`")) return at + 1;
  }
  return code.length;
}

function endOfComment(code: string, start: number): number {
  const [closing, length] = code[start + 1] === "*" ? ["*/", 2] : ["\n", 1];
  const end = code.indexOf(closing, start + 2);
  return end === -1 ? code.length : end + length;
}

function endOfWord(code: string, start: number): number {
  let at = start + 1;
  while (at < code.length && WORD.test(code[at] as string)) at += 1;
  return at;
}

/**
 * Counts the tokens of a source approximately, with each string and comment as one. It takes time linear in the length
 * and stops when the count exceeds `limit`.
 */
export function countTokens(code: string, limit: number): number {
  let count = 0;
  let at = 0;
  while (at < code.length && count <= limit) {
    const character = code[at] as string;
    if (SPACE.test(character)) {
      at += 1;
      continue;
    }
    count += 1;
    if (character === '"' || character === "'" || character === "`") at = endOfQuoted(code, at);
    else if (character === "/" && (code[at + 1] === "/" || code[at + 1] === "*")) at = endOfComment(code, at);
    else if (WORD.test(character)) at = endOfWord(code, at);
    else at += 1;
  }
  return count;
}
