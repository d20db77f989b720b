import { END_OF_PROGRAM } from "./checked-text.ts";

/**
 * Declares the guest's globals beyond ECMAScript and web workers, all as `any`: only the types of tools are checked, and
 * code must not be stopped for what is not known about the runtime.
 */
export const GUEST_GLOBALS = `
declare const Deno: any;
declare const process: any;
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
