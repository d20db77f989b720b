/**
 * What the guest has beyond ECMAScript and the Web's workers, as loose as can be: the checker is there for tools, and
 * what it does not know of the runtime must not stop code.
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
declare const Temporal: any;
declare const alert: any;
declare const confirm: any;
declare const prompt: any;
declare const setImmediate: any;
declare const clearImmediate: any;
declare const closed: any;
declare const close: any;
declare const DOMException: any;
interface ImportMeta { readonly url: string; readonly main: boolean; readonly dirname: string; readonly filename: string; resolve(specifier: string): string }
declare type Temporal = any;
declare type Buffer = any;
`;
