import type { GuestError } from "@cem/core";
import { compileProgram, needsRuntime } from "@cem/program";
import type { ProgramImport } from "../protocol/host-messages.ts";

export { isQuicklyRead } from "@cem/program";

/** A compiled program, or its syntax error. Holds no syntax tree, so queued runs stay small. */
export type CompiledForGuest =
  | {
      source: string;
      lineOffset: number;
      /** Whether the program may use the runtime, beside the language and tools. */
      needsRuntime: boolean;
      imports: ProgramImport[];
      /** Modules that it imports by `import("…")`. Absent: none. */
      laterImports?: string[] | undefined;
    }
  | { error: GuestError };

/** Compiles a program, on the thread that it is called on. */
export function compile(code: string): CompiledForGuest {
  const result = compileProgram(code);
  if (!result.ok) return { error: result.error };
  const { source, lineOffset, program } = result.compiled;
  const { dynamicImports } = program;
  const laterImports = dynamicImports.length === 0 ? undefined : dynamicImports.map((one) => one.specifier);
  const used = program.imports.filter(({ typeOnly }) => !typeOnly);
  const imports = used.map(({ specifier, names }): ProgramImport => {
    const named = names.filter(({ imported, typeOnly }) => !typeOnly && imported !== "*");
    const listed = named.map(({ imported, line, column }) => ({ name: imported, line, column }));
    return { specifier, names: listed };
  });
  return { source, lineOffset, needsRuntime: needsRuntime(program), imports, laterImports };
}
