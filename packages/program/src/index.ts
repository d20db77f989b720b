export { addMissingImports, findMissingImports, importRequired } from "./add-imports.ts";
export type { Importable, MissingImport, MissingImports } from "./add-imports.ts";
export { compileProgram, withoutFence } from "./compile-program.ts";
export type { CompiledProgram, CompileResult } from "./compile-program.ts";
export { literalValue } from "./literal-value.ts";
export type { Constants } from "./literal-value.ts";
export { locationOf, nameOf } from "./imports.ts";
export type { DynamicImport, ImportedName, SourceLocation, StaticImport } from "./imports.ts";
export {
  isQuicklyRead,
  MAX_PROGRAM_CHARACTERS,
  MAX_PROGRAM_TOKENS,
  parseProgram,
  runWithTimeout,
  SyncTimeoutError,
} from "./parse-program.ts";
export type { ParseResult, Program } from "./parse-program.ts";
export { namesUsedAtRunTime, runtimeNodes, visitNodes } from "./syntax-tree.ts";
export type { NodeVisit } from "./syntax-tree.ts";
export { exportLastValue } from "./export-last-value.ts";
export { findUnsupported } from "./emit-module.ts";
export type { GuestError } from "@cem/core";
