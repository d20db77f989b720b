import type { GuestError } from "@cem/core";
import { emitModule } from "./emit-module.ts";
import { parseProgram, type Program } from "./parse-program.ts";

/** A program as a module that a guest can load. */
export interface CompiledProgram {
  /**
   * TypeScript whose default export is `async function ($cem)`. `$cem.import` loads the static imports,
   * `$cem.load` the dynamic ones, `$cem.default` receives what is exported as default, `$cem.meta` stands for
   * `import.meta`. What the function resolves to is what a top-level `return` gave.
   */
  source: string;
  /** How many lines stand before the program's first: subtract it from a line in `source`. */
  lineOffset: number;
  program: Program;
}

export type CompileResult = { ok: true; compiled: CompiledProgram } | { ok: false; error: GuestError };

/** Turns a program into a module for the guest, with every line where it was. Never throws for any code. */
export function compileProgram(code: string): CompileResult {
  const parsed = parseProgram(code);
  if (!parsed.ok) return parsed;
  const { program } = parsed;
  const emitted = emitModule(program);
  if (!emitted.ok) return emitted;
  return { ok: true, compiled: { source: emitted.source, lineOffset: 1, program } };
}
