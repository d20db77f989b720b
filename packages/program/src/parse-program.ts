import { parse } from "@babel/parser";
import type { File } from "@babel/types";
import type { GuestError } from "@cem/core";
import { runBounded, TimeBoundReached } from "./bounded.ts";
import { countTokens } from "./count-tokens.ts";
import { listDynamicImports, listImports, type DynamicImport, type StaticImport } from "./imports.ts";

/** The longest program that is looked at, in characters. */
export const MAX_PROGRAM_CHARACTERS = 1_310_720;
/** The most words and signs, strings and comments counted as one: a syntax tree takes about 400 bytes for each. */
export const MAX_PROGRAM_TOKENS = 300_000;
/** How long parsing may take at least, and how much more for each 1,024 characters, in milliseconds. */
const PARSE_TIMEOUT_MS = 1_000;
const PARSE_TIMEOUT_MS_PER_KILO = 2;
/**
 * What makes the parser slow is nested generics; up to this many `<` it takes milliseconds whatever they are, and
 * the bound, which costs as much as parsing a small file, can be left out.
 */
const MAX_UNBOUNDED_GENERICS = 10;

/** A program that parsed. */
export interface Program {
  code: string;
  /** The syntax tree, as `@babel/parser` gives it, with TypeScript's nodes. */
  ast: File;
  /** `import …` and `export … from …` declarations, in order. */
  imports: StaticImport[];
  /** `import("…")` with the specifier written out, in order. */
  dynamicImports: DynamicImport[];
}

export type ParseResult = { ok: true; program: Program } | { ok: false; error: GuestError };

/**
 * Parses TypeScript as an ES module that may also `return` and `await` at the top level. Never throws for any
 * code: what can't be parsed, is nested too deeply, or takes too long is an error with a place where there is one.
 */
export function parseProgram(code: string): ParseResult {
  if (code.length > MAX_PROGRAM_CHARACTERS)
    return tooLarge(code.length, "characters", MAX_PROGRAM_CHARACTERS);
  const tokens = countTokens(code, MAX_PROGRAM_TOKENS);
  if (tokens > MAX_PROGRAM_TOKENS) return tooLarge(tokens, "tokens or more", MAX_PROGRAM_TOKENS);
  const limitMs = PARSE_TIMEOUT_MS + (code.length / 1024) * PARSE_TIMEOUT_MS_PER_KILO;
  try {
    const isBounded = code.split("<", MAX_UNBOUNDED_GENERICS + 2).length > MAX_UNBOUNDED_GENERICS + 1;
    const program = isBounded ? runBounded(() => readProgram(code), Math.ceil(limitMs)) : readProgram(code);
    return { ok: true, program };
  } catch (error) {
    return { ok: false, error: describe(error) };
  }
}

function readProgram(code: string): Program {
  const ast = parse(code, {
    sourceType: "module",
    plugins: ["typescript"],
    allowReturnOutsideFunction: true,
    attachComment: false,
  }) as File;
  return { code, ast, imports: listImports(ast.program), dynamicImports: listDynamicImports(ast.program) };
}

function describe(error: unknown): GuestError {
  if (error instanceof TimeBoundReached) {
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
