import { parse } from "@babel/parser";
import type { File } from "@babel/types";
import type { GuestError } from "@cem/core";
import { listDynamicImports, listImports, type DynamicImport, type StaticImport } from "./imports.ts";
import { runWithTimeout, SyncTimeoutError } from "./run-with-timeout.ts";

/**
 * One token; each string and comment counts as one. An unclosed string ends with its line, an unclosed template or
 * comment with the code.
 */
const TOKEN =
  /"[^"\\\n]*(?:\\[^]?[^"\\\n]*)*["\n]?|'[^'\\\n]*(?:\\[^]?[^'\\\n]*)*['\n]?|`[^`\\]*(?:\\[^]?[^`\\]*)*`?|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|(?!\s)[\w$\u0080-\uFFFF]+|\S/g;

/** Counts the tokens of a source approximately, in linear time. Stops when the count exceeds `limit`. */
export function countTokens(code: string, limit: number): number {
  TOKEN.lastIndex = 0;
  let count = 0;
  while (count <= limit && TOKEN.test(code)) count += 1;
  return count;
}

/** The longest program that is parsed, in characters. */
export const MAX_PROGRAM_CHARACTERS = 1_310_720;
/**
 * The most tokens that a program may have, with each string and comment counted as one. The syntax tree takes about 400
 * bytes for each.
 */
export const MAX_PROGRAM_TOKENS = 300_000;
/** The timeout of parsing, in milliseconds, and what each 1,024 characters add to it. */
const PARSE_TIMEOUT_MS = 600;
const PARSE_TIMEOUT_MS_PER_KILO = 2;
/**
 * Nested generics and conditionals make the parser slow. A short program with no more than this many `<` and
 * `?` parses in milliseconds, and is parsed without a timeout, which costs as much as parsing a small file.
 */
const MAX_UNTIMED_SIGNS = 10;
const MAX_UNTIMED_CHARACTERS = 8 * 1024;

/** A longer program is not parsed within a few milliseconds. Programs by models are mostly shorter. */
const MAX_QUICK_CHARACTERS = 2_048;

/**
 * Recently parsed programs, oldest first, since several stages (normalization, review, type check, sandbox) parse the same
 * one. The tree of a long program may be garbage-collected.
 */
const recent = new Map<string, { deref(): ParseResult | undefined }>();
const MAX_KEPT = 8;
const MAX_KEPT_CHARACTERS = 32 * 1024;

/** A parsed program. */
export interface Program {
  code: string;
  /** The syntax tree of `@babel/parser`, with its TypeScript nodes. */
  ast: File;
  /** `import …` and `export … from …` declarations, in order. */
  imports: StaticImport[];
  /** `import("…")` with a string literal as the specifier, in order. */
  dynamicImports: DynamicImport[];
}

export type ParseResult = { ok: true; program: Program } | { ok: false; error: GuestError };

/**
 * Parses TypeScript as an ES module that may also `return` and `await` at the top level. It never throws.
 *
 * @returns the program, or a `SyntaxError` for code that can't be parsed, is too large, is nested too deeply or takes too
 * long to parse; with a line and column where there is one.
 */
export function parseProgram(code: string): ParseResult {
  const known = recent.get(code)?.deref();
  if (known !== undefined) return known;
  const result = parseAnew(code);
  const isLarge = result.ok && code.length > MAX_KEPT_CHARACTERS;
  recent.delete(code);
  recent.set(code, isLarge ? new WeakRef(result) : { deref: () => result });
  const [oldest] = recent.keys();
  if (recent.size > MAX_KEPT && oldest !== undefined) recent.delete(oldest);
  return result;
}

/** Whether a program is certain to be parsed within a few milliseconds. Others are parsed in work threads. */
export function isQuicklyRead(code: string): boolean {
  return code.length <= MAX_QUICK_CHARACTERS && !mayBeSlow(code);
}

function parseAnew(code: string): ParseResult {
  if (code.length > MAX_PROGRAM_CHARACTERS)
    return tooLarge(code.length, "characters", MAX_PROGRAM_CHARACTERS);
  const tokens = countTokens(code, MAX_PROGRAM_TOKENS);
  if (tokens > MAX_PROGRAM_TOKENS) return tooLarge(tokens, "tokens or more", MAX_PROGRAM_TOKENS);
  const timeoutMs = Math.ceil(PARSE_TIMEOUT_MS + (code.length / 1024) * PARSE_TIMEOUT_MS_PER_KILO);
  try {
    const program = mayBeSlow(code) ? runWithTimeout(() => parseCode(code), timeoutMs) : parseCode(code);
    return { ok: true, program };
  } catch (error) {
    const failed = toGuestError(error);
    const hint = failed.line === undefined ? undefined : hintFor(failed, failed.line, code);
    if (hint === undefined) return { ok: false, error: failed };
    return { ok: false, error: { ...failed, message: `${failed.message.replace(/\.$/, "")}. ${hint}` } };
  }
}

/** The likely cause of a syntax error, from the code, or from the message with what stands at the error after `¶`. */
function hintFor({ message, column = 1 }: GuestError, line: number, code: string): string | undefined {
  const [failing = "", ...after] = code.split("\n").slice(line - 1);
  const rest = failing.slice(column - 1).trim();
  const said = `${message}¶${rest}`;
  const hint = HINTS.find(([sign]) => sign.test(code) || sign.test(said))?.[1];
  const isAtEnd =
    rest === "" && message.startsWith("Unexpected token") && after.every((other) => other.trim() === "");
  return hint ?? (isAtEnd ? unclosedIn(code) : undefined);
}

/** Names the outermost bracket that nothing closes, unless brackets of regular expressions leave that open. */
function unclosedIn(code: string): string | undefined {
  const open: RegExpExecArray[] = [];
  for (const match of code.matchAll(TOKEN)) {
    if (code[match.index - 1] === "\\") continue;
    if ("([{".includes(match[0])) open.push(match);
    else if (")]}".includes(match[0]) && !/\(\)|\[\]|\{\}/.test((open.pop()?.[0] ?? "") + match[0]))
      return undefined;
  }
  const [first] = open;
  if (first === undefined) return undefined;
  const line = code.slice(0, first.index).split("\n").length;
  return `The ${first[0]} of line ${line}, or one within it, is not closed.`;
}

/** Causes of syntax errors that the parser does not name. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [/&(?:quot|lt|gt|amp|#39);/, "Perhaps HTML such as &quot; stands for plain signs: write those."],
  [/^(?:```|~~~|<\/?code>)/m, "Perhaps there are words or a fence around the code: leave them out."],
  [/^\s*\{\s*"/, "Perhaps this is JSON: send the code alone."],
  [
    /^(?:def \w+\(|from [\w.]+ import |import [\w.]+(?: as \w+)?\r?$|[ \t]*elif\b|(?:if|for|while|with) [^\r\n]{1,200}:$)|token¶#|¶(?:and|or|not) |","¶for (?!await\b)\w|(?<![\w"'])f["'][^"'\n]*\{/m,
    "Perhaps this is Python: only TypeScript runs here.",
  ],
  [
    /^\s*(?:\$ )?(?:npm|npx|pip|curl|deno|node|ls|cat|echo|git) [\w./-]/,
    "Perhaps this is a command of a shell: only TypeScript runs here.",
  ],
  [
    /(?:return|=>|[=(])\s*<[a-z][\w-]*(?:\s[^<>\n]*)?>/,
    "Perhaps there is JSX, which does not run here: make a text of it.",
  ],
  [
    /Expecting Unicode escape sequence/,
    'Perhaps line ends came as the two signs \\n, or quotes as \\": send plain ones.',
  ],
  [/character '[“”„‘’]'/, "Write straight quotes."],
  [/reserved word 'await'/, "Make the function around it async."],
];

function mayBeSlow(code: string): boolean {
  if (code.length > MAX_UNTIMED_CHARACTERS) return true;
  return ["<", "?"].some((sign) => code.split(sign, MAX_UNTIMED_SIGNS + 2).length > MAX_UNTIMED_SIGNS + 1);
}

function parseCode(code: string): Program {
  const ast = parse(code, {
    sourceType: "module",
    plugins: ["typescript", "decorators", "decoratorAutoAccessors"],
    allowReturnOutsideFunction: true,
    attachComment: false,
  }) as File;
  return {
    code,
    ast,
    imports: listImports(ast.program),
    dynamicImports: listDynamicImports(ast.program, code),
  };
}

function toGuestError(error: unknown): GuestError {
  if (error instanceof SyncTimeoutError) {
    return { name: "SyntaxError", message: "The program takes too long to parse. Simplify its nesting." };
  }
  if (error instanceof RangeError)
    return { name: "SyntaxError", message: "The program is nested too deeply." };
  const { message, loc } = error as { message: string; loc?: { line: number; column: number } | undefined };
  const text = message.replace(/ \(\d+:\d+\)$/, "");
  if (loc === undefined) return { name: "SyntaxError", message: text };
  return { name: "SyntaxError", message: text, line: loc.line, column: loc.column + 1 };
}

function tooLarge(size: number, unit: string, most: number): ParseResult {
  const numbers = `${size.toLocaleString("en")} ${unit}; the most is ${most.toLocaleString("en")}`;
  const message = `The program has ${numbers}. Read large data from a file in /workspace instead.`;
  return { ok: false, error: { name: "SyntaxError", message } };
}
