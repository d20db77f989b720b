import type { GuestError } from "@cem/core";

/** A program ready for the guest, without its syntax tree: runs may wait, and trees are large. */
export type CompiledForGuest = { source: string; lineOffset: number } | { error: GuestError };

/** Compiles a program. The compiler is loaded when it is first needed. */
export async function compileForGuest(code: string): Promise<CompiledForGuest> {
  const { compileProgram } = await import("@cem/program");
  const result = compileProgram(code);
  if (!result.ok) return { error: result.error };
  const { source, lineOffset } = result.compiled;
  return { source, lineOffset };
}

/** Gets the compiler ready. Call it while the first guest boots, and the first run need not wait for it. */
export async function preloadCompiler(): Promise<void> {
  await compileForGuest("export default 1;");
}
