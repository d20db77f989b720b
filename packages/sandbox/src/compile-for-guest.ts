import type { GuestError } from "@cem/core";

/** A compiled program, or its syntax error. Holds no syntax tree, so queued runs stay small. */
export type CompiledForGuest = { source: string; lineOffset: number } | { error: GuestError };

/** Compiles a program. Loads the compiler on first use. */
export async function compileForGuest(code: string): Promise<CompiledForGuest> {
  const { compileProgram } = await import("@cem/program");
  const result = compileProgram(code);
  if (!result.ok) return { error: result.error };
  const { source, lineOffset } = result.compiled;
  return { source, lineOffset };
}

/** Loads the compiler ahead of the first run, for instance while the first guest boots. */
export async function preloadCompiler(): Promise<void> {
  await compileForGuest("export default 1;");
}
