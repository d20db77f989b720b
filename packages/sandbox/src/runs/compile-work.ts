import type { GuestError } from "@cem/core";
import { compileProgram } from "@cem/program";

export { isQuicklyRead } from "@cem/program";

/** A compiled program, or its syntax error. Holds no syntax tree, so queued runs stay small. */
export type CompiledForGuest = { source: string } | { error: GuestError };

/** Compiles a program on the calling thread. */
export function compile(code: string): CompiledForGuest {
  const result = compileProgram(code);
  return result.ok ? { source: result.compiled.source } : { error: result.error };
}
