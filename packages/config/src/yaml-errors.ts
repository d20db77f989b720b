import { Lexer, type ErrorCode, type YAMLError } from "yaml";

const BAD_INDENT = "is indented wrongly; settings of one section start in the same column";

/** Messages by the parser's codes. Its own messages are not used: they can quote the file, which may hold a secret. */
const MESSAGES: Partial<Record<ErrorCode, string>> = {
  BAD_DQ_ESCAPE: "has a backslash in \"…\" that means nothing; write \\\\ or use '…'",
  BAD_INDENT,
  BAD_SCALAR_START: "has a value that starts with a reserved character; put it in quotes",
  BLOCK_AS_IMPLICIT_KEY:
    "has a value after a value; a key may have one, and nested keys go on lines of their own",
  KEY_OVER_1024_CHARS: "has a key that is too long",
  MISSING_CHAR: "lacks a closing quote, a bracket, a comma or the space after a colon",
  MULTILINE_IMPLICIT_KEY: "is not `key: value`: perhaps a colon is missing",
  MULTIPLE_DOCS: "starts a second document; the file takes one",
  MULTIPLE_ANCHORS: "has two anchors (&…) on one value",
  MULTIPLE_TAGS: "has two tags (!…) on one value",
  NON_STRING_KEY: "has a key that is not text",
  RESOURCE_EXHAUSTION: "is nested too deeply",
  TAB_AS_INDENT: "is indented by a tab; use spaces",
  TAG_RESOLVE_FAILED: "has a tag (!…), which means nothing here; put text that starts with ! in quotes",
  BAD_ALIAS: "has an alias (*…) without a name; put text that starts with * in quotes",
  UNEXPECTED_TOKEN: "can't be read as YAML: perhaps a quote or a bracket is missing",
};

/** Describes the errors of the parser, each with its offset: only their cause if it is a quote, a bracket or an indent. */
export function describeErrors(errors: readonly YAMLError[], text: string) {
  if (errors.length === 0) return [];
  const unclosed = findUnclosed(text);
  if (unclosed !== undefined) return [{ message: unclosedAs(text[unclosed]), offset: unclosed }];
  const misindented = findMisindented(errors, text);
  if (misindented !== undefined) return [{ message: BAD_INDENT, offset: misindented }];
  return errors.map(({ code, pos: [offset] }) => ({
    message: MESSAGES[code] ?? "can't be read as YAML",
    offset,
  }));
}

/** Finds the wrongly indented line. The parser reports only what follows from it: a value or spaces there. */
function findMisindented(errors: readonly YAMLError[], text: string): number | undefined {
  const goesOn = errors.find(({ code }) => code === "MULTILINE_IMPLICIT_KEY");
  if (goesOn !== undefined && errors.some(({ code }) => code === "BLOCK_AS_IMPLICIT_KEY"))
    return goesOn.pos[1];
  return errors.find(({ code, pos }) => code === "MISSING_CHAR" && text.slice(...pos).trim() === "")?.pos[0];
}

function unclosedAs(opener: string | undefined): string {
  return opener === "[" || opener === "{"
    ? `lacks a closing bracket: a ${opener} is opened here and not closed with ${opener === "[" ? "]" : "}"}`
    : "lacks a closing quote: one begins here and does not end";
}

/** Tokens of the lexer that have no characters in the text. */
const MARKS = new Set(["\u0002", "\u0018", "\u001F"]);
const FLOW_ERROR = "\u0018";
const CLOSERS: Readonly<Record<string, string>> = { "]": "[", "}": "{" };

/** Finds the first unclosed bracket or quote of a YAML text: the parser reports where it noticed, often far below. */
function findUnclosed(text: string): number | undefined {
  const open: number[] = [];
  let offset = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === FLOW_ERROR) return open.at(-1);
    if (MARKS.has(token)) continue;
    if (token === "[" || token === "{") open.push(offset);
    const opener = CLOSERS[token];
    if (opener !== undefined) {
      const last = open.pop();
      if (last === undefined || text[last] !== opener) return last;
    }
    const [quote = ""] = token;
    if ((quote === '"' || quote === "'") && (token.length === 1 || !token.endsWith(quote))) return offset;
    offset += token.length;
  }
  return open.at(-1);
}
