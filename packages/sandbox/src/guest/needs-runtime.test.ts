import { compileProgram } from "@cem/program";
import { describe, expect, it } from "vitest";
import { needsRuntime } from "./needs-runtime.ts";
import { withoutTypes } from "./source-text.ts";

function needs(code: string): boolean {
  const result = compileProgram(code);
  if (!result.ok) throw new Error(result.error.message);
  return needsRuntime(withoutTypes(result.compiled.source).code);
}

describe("needsRuntime", () => {
  it.each([
    'import { add } from "./servers/calculator/index.ts"; return await add({ a: 1, b: 2 });',
    'import { callTool } from "cem:client"; return callTool("a", "b", { process: 1, location: "x" });',
    "const rows = [{ name: 'a' }]; return rows.map(({ name, location }) => name + location);",
    "const a = { Deno: 1, get: () => 2 }; return a.Deno + a.get();",
    "const file = 'a'; return `File ${file}: ${[1].map((n) => `Event ${{ n }.n} of ${n}`)} URL`;",
    "return ['`'].map((text) => text.replace(/`/g, '')).concat('Response `', \"it's URL\", /[/`]\\/'URL/.source);",
    "interface Deno { x: Buffer } const d: Deno = { x: 1 as unknown as Buffer }; return d;",
    "console.log(performance.now(), crypto.randomUUID());",
    "setTimeout(() => queueMicrotask(() => {}), 1); return new Error('x') instanceof Error;",
    "module.exports = { a: [...new Map([[1, new Set()]])] };",
    "const a = [4], b = (a[0]! + 1) / 2 / a.length; return { b, of: 'URL' }; // a 'File'",
    "return [`${/'/.test('URL')} File`, [/[/'\"]/, 'URL'], (() => /\"/)(), ((s) => { return /'/.test(s); })('URL')];",
    "outer: for (const x of [1]) { continue outer; }",
    "const { prompt, alert } = { prompt: 'a', alert: 1 }; return [prompt, { confirm: alert }];",
    "const bind = (self: unknown) => Function.prototype.bind.call(String, self); return bind;",
  ])("is false for the language and tools: %s", (code) => {
    expect(needs(code)).toBe(false);
  });

  it.each([
    "return Deno.cwd();",
    "{ let fetch = 1; } return fetch('x');",
    "[1].map((fetch) => fetch);",
    "const f = (Deno: number) => Deno; return Deno;",
    'await import("node:fs");',
    "const x = './a.ts'; await import(x);",
    'await import("./servers/calculator/index.ts");',
    "console.group(btoa('x'));",
    "return globalThis;",
    "globalThis.mark = 1;",
    "return prompt('Name?');",
    "alert ('done'); return confirm(`sure?`);",
    "addEventListener('error', () => {});",
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
    "return `File ${new URL('x')}`;",
    "return `File ${`${1} ${{ a: 1 }.a} ${atob('x')}`}`;",
    "return /`/.test('x') ? new URL('x') : `y`;",
    "return 4 / 2 + atob('x') / 2;",
    `const s = "a"; if (s) /"/.test(s); structuredClone({ a: "b" });`,
    `const s = "a"; for (;;) /'/.test(s); structuredClone({ a: 'b' });`,
    `const s = "a"; if (!s) {} else /"/.test(s); structuredClone({ a: "b" });`,
    `const s = "a"; { s; } /"/.test(s); structuredClone({ a: "b" });`,
    `const s = "a" + /"/.test("a"); structuredClone({ a: "b" });`,
    `const s = typeof /"/; structuredClone({ a: "b" });`,
    `const s = 1 > /"/; structuredClone({ a: "b" });`,
    `switch (1 as any) { case /"/: structuredClone({ a: "b" }); }`,
    `const s = await /"/; await import("./servers/calculator/index.ts");`,
    `const s = /* a */ /"/; structuredClone({ a: "b" });`,
    `const s = \`\${/"/}\`; structuredClone({ a: "b" });`,
    `const $return = 4; return $return /structuredClone(1)/ 2;`,
    "// a comment\u2028structuredClone(1);",
    "const s = 1 // a comment\n/ structuredClone(1) / 2",
    "return [...process.argv];",
    "const { fetch: get } = { fetch: 1 }; return fetch('x');",
    "const { [Deno.args[0]!]: x } = {} as any;",
  ])("is true for anything else: %s", (code) => {
    expect(needs(code)).toBe(true);
  });

  it.each([
    "import.meta",
    "import\u2028.\tmeta.url",
    "import/**/.meta",
    "import//\n.meta",
    "import.//\u2028meta",
    "import . /* */ meta",
    "if (x) /\"/.test(''); import.meta //\"",
    "`${`}`}`; import.meta",
  ])("is true for a module with %s", (code) => {
    expect(needsRuntime(code)).toBe(true);
  });

  it.each([
    'import.source("x")',
    "import /**/ . defer('x')",
    "f(...import('x'))",
    "a. return /(r = import('x'))/ 1",
    `a.${" ".repeat(40)}return /(r = import('x'))/ 1`,
    "a?./**/return /(r = import('x'))/ 1",
    "a./**/ /**/\n return /(r = import('x'))/ 1",
    '"\\\r\n"; import("x"); "',
    "#! /*\nimport('x'); /* */",
  ])("is true for a module with a dynamic import in %j", (code) => {
    expect(needsRuntime(code)).toBe(true);
  });

  it.each(["f(() => {\n  return /'/.test(a); }); 'URL'", "if (a) /* b */ return /'/.test(a); 'URL'"])(
    "is false for a module that returns a regular expression: %j",
    (code) => {
      expect(needsRuntime(code)).toBe(false);
    },
  );

  it("is false for words of a comment on imports", () => {
    expect(
      needsRuntime("/** Rows to import. An import/export. Meta: import (CSV). */ export const a = 1;"),
    ).toBe(false);
  });
});
