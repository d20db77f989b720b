/** Replaces a top-level `return` without a value: a call of this function, of the same length, which never returns. */
export const END_OF_PROGRAM = "$__$";

const ASYNC_FILE_FUNCTIONS =
  "access appendFile chmod chown copyFile cp lchown link lstat mkdir mkdtemp open readdir readFile readlink realpath rename rm rmdir stat symlink truncate unlink utimes writeFile".split(
    " ",
  );
const ASYNC_DENO_FUNCTIONS =
  "chmod copyFile link lstat makeTempDir makeTempFile mkdir open readFile readLink readTextFile realPath remove rename stat symlink truncate utime writeFile writeTextFile".split(
    " ",
  );

/** Declares which functions of the runtime return promises. Everything else about them is `any`. */
function asyncDeclarations(): string {
  const declare = (names: readonly string[], prefix = ""): string =>
    names.map((name) => `${prefix}${name}(...given: any[]): Promise<any>;`).join(" ");
  const files = `{ ${declare(ASYNC_FILE_FUNCTIONS)} [name: string]: any }`;
  const functions = declare(ASYNC_FILE_FUNCTIONS, "export function ");
  const modules = ["fs/promises", "node:fs/promises"].map((module) => {
    return `declare module "${module}" { ${functions} const files: ${files}; export default files; export const constants: any; export const glob: any; export const opendir: any; export const watch: any; export const statfs: any; export const lutimes: any; export const lchmod: any; export type FileHandle = any; export type Dirent = any; }\n`;
  });
  return `declare const Deno: { ${declare(ASYNC_DENO_FUNCTIONS)} [name: string]: any };\n${modules.join("")}`;
}

/** Names that a program may read. */
const GLOBALS =
  "process Buffer global window module exports localStorage sessionStorage alert confirm prompt setImmediate clearImmediate closed QuotaExceededError GPUBufferUsage GPUColorWrite GPUMapMode GPUShaderStage GPUTextureUsage Location Window Navigator NavigatorUAData Storage".split(
    " ",
  );
/** Names that a program may also set. */
const HANDLERS = ["onload", "onbeforeunload", "onunload"];

/**
 * Declares the guest's globals beyond ECMAScript and web workers, all as `any`: only the types of tools are checked,
 * and code must not be refused because of unknown parts of the runtime.
 */
export const GUEST_GLOBALS: string = `
${asyncDeclarations()}${GLOBALS.map((name) => `declare const ${name}: any;\n`).join("")}${HANDLERS.map((name) => `declare let ${name}: any;\n`).join("")}interface ImportMeta { readonly url: string; readonly main: boolean; readonly dirname: string; readonly filename: string; resolve(specifier: string): string }
declare type Buffer = any;
declare class ToolError extends Error { constructor(...given: any[]); [name: string]: any }
declare function ${END_OF_PROGRAM}(): never;
`;
