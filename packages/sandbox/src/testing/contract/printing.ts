import { expect, it } from "vitest";
import type { Harness } from "./harness.ts";

const BASE64 = Buffer.from(Array.from({ length: 600 }, (_, index) => (index * 37) % 256)).toString("base64");

const PRINTED: [code: string, output: string][] = [
  ["{ a: 1, b: [1, 'x', null], d: new Date(0) }", '{"a":1,"b":[1,"x",null],"d":"1970-01-01T00:00:00.000Z"}'],
  ["'rows:', [{ a: 1 }], 5, 'x'", 'rows: [{"a":1}] 5 x'],
  ["{ u: undefined, n: NaN, b: 1n, s: Symbol('s') }", '{"u":undefined,"n":NaN,"b":1n,"s":Symbol(s)}'],
  ["new Map([['a', { b: 1 }]]), new Map([[1, 2]])", 'Map(1) {"a":{"b":1}} Map(1) [[1,2]]'],
  ["{ m: new Map(), s: new Set(['a']) }", '{"m":Map(0) {},"s":Set(1) ["a"]}'],
  ["new (class Point { x = 1; })()", 'Point {"x":1}'],
  ["{ j: { toJSON() { return [1]; } } }", '{"j":[1]}'],
  ["(() => { const a = { b: {} }; a.b.a = a; return a; })()", '{"b":{"a":[Circular]}}'],
  ["(() => { const a = {}; return { a, b: a }; })()", '{"a":{},"b":{}}'],
  ["new Uint8Array(3), { b: new Uint8Array(4000) }", 'Uint8Array(3) [0,0,0] {"b":[Uint8Array: 4000 bytes]}'],
  ["Buffer.alloc(99), new ArrayBuffer(8)", "[Uint8Array: 99 bytes] [ArrayBuffer: 8 bytes]"],
  [`{ data: "${BASE64}" }`, '{"data":"[base64: 800 characters]"}'],
  [`["data:image/png;base64,${BASE64}"]`, '["[image/png as base64: 822 characters]"]'],
  [`"${BASE64}"`, BASE64],
  ["{ f: Math.max, e: new TypeError('x') }", '{"f":[Function: max],"e":[TypeError: x]}'],
  [
    "{ e: Object.assign(new AggregateError([new Error('a')], 'all'), { code: 5, go() {} }) }",
    '{"e":[AggregateError: all] {"code":5,"errors":[{"name":"Error","message":"a"}]}}',
  ],
  ["new URL('http://a/b'), { u: new URL('http://a/b') }", 'http://a/b {"u":"http://a/b"}'],
  ["new Date(0), new Date(NaN), /x/g", "1970-01-01T00:00:00.000Z Invalid Date /x/g"],
  ["'%s: %d, %o, %j', 'a', 1, { b: 1 }, [2], { c: 3 }", 'a: 1, {"b":1}, [2] {"c":3}'],
  ["'100% of', { c: 3 }", '100% of {"c":3}'],
  ["{ t: '%s' }, 'y'", '{"t":"%s"} y'],
  ["{ get a() { throw new Error('no'); } }", '{"a":[Getter]}'],
  ["Object.create(null), [], [[undefined]], [,1]", "{} [] [[undefined]] [undefined,1]"],
];

/** Contract tests: output of `console`. */
export function printingContract(harness: () => Harness): void {
  const printed = async (code: string): Promise<string> => (await harness().run(code)).output;

  it("prints objects as compact JSON, and by name what JSON has no form for", async () => {
    const code = PRINTED.map(([values]) => `console.log(${values});`).join("\n");
    expect((await printed(code)).split("\n").slice(0, -1)).toEqual(PRINTED.map(([, output]) => output));
  });

  it("prints what comes behind an error, and the lines of the program", async () => {
    const code = `enum Kind { A }
console.log("failed:", new Error("no"), "in row", Kind.A);
setTimeout(() => {}, 0);
console.log(new Error("with the runtime").stack, performance.timeOrigin > 0 && "end");`;
    expect(await printed(code)).toBe(`failed: Error: no
    at default (program.ts:2:24) in row 0
Error: with the runtime
    at default (program.ts:4:13) end
`);
  });

  it("prints the errors that another stands for, and calls no getter of an error", async () => {
    const code = `const bare = (error: Error) => Object.assign(error, { stack: "" }); let read = 0;
const a = Object.defineProperty(bare(new Error("a")), "x", { enumerable: true, get: () => (read += 1) });
console.log("all", bare(new AggregateError([a, Object.assign(bare(new TypeError("b")), { code: 7 }), "c"], "failed")));
console.log(bare(new SuppressedError(a, 1, "both")), bare(new AggregateError(Array(10).fill(0))), { a }, read);
console.log(await new Promise((go) => setTimeout(() => go(new Error("late")), 1)));`;
    const many = `AggregateError${"\n- 0".repeat(8)}\n- and 2 more`;
    expect(await printed(code)).toBe(`all AggregateError: failed
- Error: a
- TypeError: b {"code":7}
- c
SuppressedError: both
- Error: a
- 1 ${many} {"a":[Error: a]} 0
Error: late
    at program.ts:5:59
`);
  });

  it("prints no lines of the runtime in the stack of a call that failed", async () => {
    const code = `import { callTool } from "cem:client";\ntry { await callTool("", "t"); } catch (error) { console.log(error.stack); }`;
    const { output } = await harness().run(code);
    expect(output).toMatch(/^ToolError: [^\n]*\n {4}at async default \(program\.ts:2:7\)\n$/u);
    const { output: other } = await harness().run(
      `await import("node:fs");\n${code.replace("import {", "const {").replace(" from ", " = await import(").replace(";", ");")}`,
    );
    expect(other).not.toMatch(/ext:|cem:inside/u);
  });

  it("prints long lists whole, and of very long ones the beginning and what they have", async () => {
    const rows = "Array.from({ length: 500 }, (_, id) => ({ id }))";
    const whole = JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id })));
    expect(await printed(`console.log(${rows});`)).toBe(`${whole}\n`);
    const long = await printed(`console.log(${rows}.map((row) => ({ ...row, text: "x".repeat(500) })));`);
    expect(long.length).toBeLessThan(10_000);
    expect(long).toMatch(/more than 65536\. It has 500 items\. Print a part/);
  });

  it("prints alike by every method, through `node:console` and whatever the program changes", async () => {
    const code = `import other from "node:console";
const names = ["log", "info", "debug", "warn", "error", "dir"];
const own = names.map((name) => console[name]);
const list = [new Map([["b", 1]])];
other.log({ a: 1 });
JSON.stringify = Object.keys = Map.prototype.forEach = () => { throw new Error("changed"); };
for (let n = 0; n < own.length; n += 1) own[n](list);
console.group({ g: 1 }); console.log([1]); console.groupEnd();
console.dir({ a: { b: 1 } }, { depth: 0 });
console.table([{ a: 1 }]);`;
    const lines = (await printed(code)).split("\n");
    const expected = ['{"a":1}', ...Array.from({ length: 6 }, () => '[Map(1) {"b":1}]'), '{"g":1}', "  [1]"];
    expect(lines.slice(0, 10)).toEqual([...expected, '{"a":{"b":1}}']);
    expect(lines[10]).toMatch(/^┌/);
  });
}
