import type { GuestError } from "@cem/core";
import { compileProgram, needsRuntime } from "@cem/program";

export { isQuicklyRead } from "@cem/program";

/** A compiled program, or its syntax error. Holds no syntax tree, so queued runs stay small. */
export type CompiledForGuest =
  | {
      source: string;
      lineOffset: number;
      /** Whether the program may use the runtime, beside the language and tools. */
      needsRuntime: boolean;
    }
  | { error: GuestError };

/** Compiles a program, on the thread that it is called on. */
export function compile(code: string): CompiledForGuest {
  const result = compileProgram(code);
  if (!result.ok) return { error: result.error };
  const { source, lineOffset, program } = result.compiled;
  return { source, lineOffset, needsRuntime: needsRuntime(program) };
}
