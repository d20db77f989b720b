const WORD = /[\w$\u0080-\uFFFF]/;
const SPACE = /\s/;

/** Where a quoted text that starts at `start` ends. An unclosed one reaches to the end of its line, or of all. */
function endOfQuoted(code: string, start: number): number {
  const quote = code[start];
  for (let at = start + 1; at < code.length; at += 1) {
    const letter = code[at];
    if (letter === "\\") at += 1;
    else if (letter === quote || (letter === "\n" && quote !== "`")) return at + 1;
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
 * Roughly how many words and signs a source has, quoted texts and comments as one, counting no further than just
 * beyond `limit`. Linear in its length, whatever it holds.
 */
export function countTokens(code: string, limit: number): number {
  let count = 0;
  let at = 0;
  while (at < code.length && count <= limit) {
    const letter = code[at] as string;
    if (SPACE.test(letter)) {
      at += 1;
      continue;
    }
    count += 1;
    if (letter === '"' || letter === "'" || letter === "`") at = endOfQuoted(code, at);
    else if (letter === "/" && (code[at + 1] === "/" || code[at + 1] === "*")) at = endOfComment(code, at);
    else if (WORD.test(letter)) at = endOfWord(code, at);
    else at += 1;
  }
  return count;
}
