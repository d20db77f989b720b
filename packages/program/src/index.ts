export { runBounded, TimeBoundReached } from "./bounded.ts";
export { compileProgram } from "./compile-program.ts";
export type { CompiledProgram, CompileResult } from "./compile-program.ts";
export { MAX_PROGRAM_CHARACTERS, MAX_PROGRAM_TOKENS, parseProgram } from "./parse-program.ts";
export type { ParseResult, Program } from "./parse-program.ts";
export type { DynamicImport, ImportedName, SourceLocation, StaticImport } from "./imports.ts";
export { isTypeOnly, runtimeNodes } from "./syntax-tree.ts";
export type { Visit } from "./syntax-tree.ts";
