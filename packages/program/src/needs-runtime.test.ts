import { describe, expect, it } from "vitest";
import { needsRuntime } from "./needs-runtime.ts";
import { parseProgram } from "./parse-program.ts";

function needs(code: string): boolean {
  const parsed = parseProgram(code);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return needsRuntime(parsed.program);
}

describe("needsRuntime", () => {
  it.each([
    'import { add } from "./servers/calculator/index.ts"; return await add({ a: 1, b: 2 });',
    'import { callTool } from "cem:client"; return callTool("a", "b", { process: 1, location: "x" });',
    "const rows = [{ name: 'a' }]; return rows.map(({ name, location }) => name + location);",
    "function process(x: number): number { return x; } return process(1);",
    "const { fetch, ...Deno } = { fetch: 1 } as any; export const process = () => Deno; return [fetch, process()];",
    "class Buffer { static from = 1; } return Buffer.from;",
    "enum Response { Ok = 1 } return Response.Ok;",
    "const a = { Deno: 1, fetch() { return this.Deno; } }; return a.Deno + a.fetch();",
    "interface Deno { x: Buffer } const d: Deno = { x: 1 as unknown as Buffer }; return d;",
    "console.log(performance.now(), crypto.randomUUID());",
    "setTimeout(() => queueMicrotask(() => {}), 1); return new Error('x') instanceof Error;",
    "module.exports = { a: [...new Map([[1, new Set()]])] };",
    "outer: for (const x of [1]) { continue outer; }",
  ])("is false for the language and tools: %s", (code) => {
    expect(needs(code)).toBe(false);
  });

  it.each([
    "return Deno.cwd();",
    "{ let fetch = 1; } return fetch('x');",
    "[1].map((fetch) => fetch);",
    "const f = (Deno: number) => Deno; return Deno;",
    'import fs from "node:fs"; fs;',
    'import path from "path"; path;',
    'await import("node:fs");',
    "const x = './a.ts'; await import(x);",
    'await import("./servers/calculator/index.ts");',
    "console.group(btoa('x'));",
    "return globalThis;",
    "globalThis.mark = 1;",
    "eval('1');",
    "return Function('return 1')();",
    "console.table([{ a: 1 }]);",
    "const { log } = console; log(1);",
    "console['log'](1);",
    "performance.mark('x');",
    "new TextDecoder();",
    "Error.prepareStackTrace = () => 1;",
    "new WeakRef({});",
    "Error.stackTraceLimit = 50;",
    "return typeof WebAssembly;",
    "return { fetch };",
    "const { [Deno.args[0]!]: x } = {} as any;",
  ])("is true for anything else: %s", (code) => {
    expect(needs(code)).toBe(true);
  });
});
