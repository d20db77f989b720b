import { Lexer } from "yaml";

/** Something that is opened in a text and not closed. */
export interface Unclosed {
  what: "[" | "{" | "quote";
  /** Where it is opened, in characters from the start. */
  offset: number;
}

/** Tokens of the lexer that stand for nothing in the text. */
const MARKS = new Set(["\u0002", "\u0018", "\u001F"]);
const FLOW_ERROR = "\u0018";
const CLOSERS: Readonly<Record<string, "[" | "{">> = { "]": "[", "}": "{" };

/** Finds the first bracket or quote of a YAML text that is not closed: the parser reports where it noticed, far below. */
export function findUnclosed(text: string): Unclosed | undefined {
  const open: Unclosed[] = [];
  let offset = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === FLOW_ERROR) return open.at(-1);
    if (MARKS.has(token)) continue;
    if (token === "[" || token === "{") open.push({ what: token, offset });
    const opener = CLOSERS[token];
    if (opener !== undefined) {
      const last = open.pop();
      if (last?.what !== opener) return last;
    }
    const [quote = ""] = token;
    if ((quote === '"' || quote === "'") && (token.length === 1 || !token.endsWith(quote)))
      return { what: "quote", offset };
    offset += token.length;
  }
  return open.at(-1);
}
