/**
 * Replaces a top-level `return` without a value: a call of this function, which never returns. `return` and the call have
 * the same length.
 */
export const END_OF_PROGRAM = "$__$";

const ASYNC_FILE_FUNCTIONS =
  "access appendFile chmod chown copyFile cp lchown link lstat mkdir mkdtemp open readdir readFile readlink realpath rename rm rmdir stat symlink truncate unlink utimes writeFile".split(
    " ",
  );
const ASYNC_DENO_FUNCTIONS =
  "chmod copyFile link lstat makeTempDir makeTempFile mkdir open readFile readLink readTextFile realPath remove rename stat symlink truncate utime writeFile writeTextFile".split(
    " ",
  );

/** Declares which functions of the runtime return promises. All that they have besides is `any`. */
function asyncDeclarations(): string {
  const declare = (names: readonly string[]): string =>
    names.map((name) => `${name}(...given: any[]): Promise<any>;`).join(" ");
  const files = `{ ${declare(ASYNC_FILE_FUNCTIONS)} [name: string]: any }`;
  const modules = ["fs/promises", "node:fs/promises"].map((module) => {
    const functions = ASYNC_FILE_FUNCTIONS.map(
      (name) => `export function ${name}(...given: any[]): Promise<any>;`,
    ).join(" ");
    return `declare module "${module}" { ${functions} const files: ${files}; export default files; export const constants: any; export const glob: any; export const opendir: any; export const watch: any; export const statfs: any; export const lutimes: any; export const lchmod: any; export type FileHandle = any; export type Dirent = any; }\n`;
  });
  return `declare const Deno: { ${declare(ASYNC_DENO_FUNCTIONS)} [name: string]: any };\n${modules.join("")}`;
}

/**
 * Declares the guest's globals beyond ECMAScript and web workers, all as `any`: only the types of tools are checked, and
 * code must not be stopped for what is not known about the runtime.
 */
export const GUEST_GLOBALS: string = `
${asyncDeclarations()}declare const process: any;
declare const Buffer: any;
declare const global: any;
declare const window: any;
declare const require: any;
declare const module: any;
declare const exports: any;
declare const __dirname: any;
declare const __filename: any;
declare const localStorage: any;
declare const sessionStorage: any;
declare const alert: any;
declare const confirm: any;
declare const prompt: any;
declare const setImmediate: any;
declare const clearImmediate: any;
declare const closed: any;
declare const QuotaExceededError: any;
declare const GPUBufferUsage: any;
declare const GPUColorWrite: any;
declare const GPUMapMode: any;
declare const GPUShaderStage: any;
declare const GPUTextureUsage: any;
declare const Location: any;
declare const Window: any;
declare const Navigator: any;
declare const NavigatorUAData: any;
declare const Storage: any;
declare let onload: any;
declare let onbeforeunload: any;
declare let onunload: any;
interface ImportMeta { readonly url: string; readonly main: boolean; readonly dirname: string; readonly filename: string; resolve(specifier: string): string }
declare type Buffer = any;
declare function ${END_OF_PROGRAM}(): never;
`;
