import type { GuestError } from "@cem/core";
import { emitModule } from "./emit-module.ts";
import { parseProgram, type Program } from "./parse-program.ts";

/** The beginning of a Markdown fence, with or without a language. */
const OPENING = /^(?<before>\s*)(?<fence>`{3,}(?!`)|~{3,}(?!~))[^\r\n`]*(?=\r?\n)/;

/**
 * Extracts code from a Markdown fence at the start of the text, which may be unclosed or followed by words. Line numbers
 * are kept, so that messages refer to the lines of the given text.
 */
export function withoutFence(text: string): string {
  const opening = OPENING.exec(text);
  const { before = "", fence = "" } = opening?.groups ?? {};
  const whole = text.trimEnd();
  const from = opening?.[0].length ?? 0;
  const closing = whole.indexOf(`\n${fence}`, from);
  let end = whole.length - fence.length;
  if (fence === "" || end <= from) return text;
  if (!whole.endsWith(fence)) {
    // Leaves the text unchanged if another fence begins more code.
    if (closing !== -1 && whole.includes(fence, closing + fence.length + 1)) return text;
    end = closing === -1 ? whole.length : closing + 1;
  }
  return `${before}${whole.slice(from, end).replace(/(?<![ \t])[ \t]+$/, "")}`;
}

/** A program compiled to a module that a guest can load. */
export interface CompiledProgram {
  /**
   * A TypeScript module whose default export is `async ($cem) =>`. It loads its static imports with
   * `$cem.import(requests)` and its dynamic ones with `$cem.load(specifier)`, reads `import.meta` from `$cem.meta` and
   * assigns its default export to `$cem.default`, its CommonJS module to `$cem.module`, the value of its last expression to
   * `$cem.last` and an object of the variables that it exports by name to `$cem.named`. If the program mentions its default
   * export elsewhere, or makes it of functions by a call, it sets `$cem.isMentioned`, and `$cem.ran` as soon as it runs what
   * it exports: to "whole", or to "part" for a function that the export is made of. It resolves to the value of a top-level
   * `return`.
   */
  source: string;
  /** The number of lines before the program's first one. Subtract it from a line in `source`. */
  lineOffset: number;
}

export type CompileResult = { ok: true; compiled: CompiledProgram } | { ok: false; error: GuestError };

/** Lines that the compiler puts before the program. */
const LINE_OFFSET = 1;
const compiledPrograms = new WeakMap<Program, CompileResult>();

/**
 * Compiles a program to a module for the guest. Its lines are kept, so positions can be mapped back.
 *
 * @returns the module, or a `SyntaxError` for code that can't be parsed or can't stand in a function body. Never throws.
 */
export function compileProgram(code: string): CompileResult {
  const parsed = parseProgram(code);
  if (!parsed.ok) return parsed;
  const { program } = parsed;
  const known = compiledPrograms.get(program);
  if (known !== undefined) return known;
  const emitted = emitModule(program);
  const result: CompileResult = emitted.ok
    ? { ok: true, compiled: { source: emitted.source, lineOffset: LINE_OFFSET } }
    : emitted;
  compiledPrograms.set(program, result);
  return result;
}
