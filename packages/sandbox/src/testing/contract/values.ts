import { expect, it } from "vitest";
import type { Harness } from "./harness.ts";

/** Contract tests: return values of programs. */
export function valuesContract(harness: () => Harness): void {
  const { value, run } = forward(harness);

  it("gives what is exported as default", async () => {
    expect(await value("export default { sum: 5 + 3, list: [1, null, true, 'é'] }")).toEqual({
      sum: 8,
      list: [1, null, true, "é"],
    });
  });

  it("gives what is returned at the top level, before a default export", async () => {
    expect(await value("export default 1;\nreturn 2;")).toBe(2);
    expect(await value("if (true) { return 'early'; }\nthrow new Error('late');")).toBe("early");
  });

  it("calls a default-exported function and gives its result", async () => {
    expect(await value("export default async function main() { return [await 1]; }")).toEqual([1]);
    expect(await value("export default () => 'arrow'")).toBe("arrow");
    expect(await value("export default async function main(context) { return context ?? 3; }")).toBe(3);
    expect(await value("export default (size = 2) => size")).toBe(2);
  });

  it.each([
    "let calls = 0;\nexport default function main() { calls += 1; console.log(calls); }\nmain();",
    "const main = async () => console.log(1);\nmodule.exports = { main };\nmain();",
    "export default class Task { constructor() { console.log(2); } }\nnew Task();\nconsole.log(1);",
    "const main = (async () => console.log(1)) satisfies () => Promise<void>;\nmain();\nexport default main;",
    "const api = { go: async () => console.log(1) };\nawait api.go();\nexport default api.go;",
    "const go = () => console.log(1);\nconst all = { go };\nall.go();\nexport default go;",
    "const make = () => async () => console.log(1);\nconst main = make();\nawait main();\nexport default main;",
    "const main = () => console.log(1);\nsetTimeout(main, 30);\nexport default main;",
    "const main = () => console.log(1);\nnew Promise((r) => setTimeout(r, 30)).then(main);\nexport default main;",
  ])("calls what is exported for others no more than the program does: %s", async (code) => {
    const output = code.includes("Task") ? "2\n1\n" : "1\n";
    expect(await run(code)).toMatchObject({ status: "completed", value: undefined, output });
  });

  it.each([
    ["console.log(1);\nexport default async (name: string) => console.log(name);", "it has parameters"],
    [
      "const main = () => console.log(1);\nmain();\nexport default ((fn) => () => fn())(main);",
      "already run a part of it",
    ],
    ["console.log(1);\nexport default { async main() { console.log(2); } };", "a member of an object"],
    ["console.log(1);\nexport default class Task { run() { console.log(2); } }", "a class"],
    ["console.log(1);\nexports.main = async () => console.log(2);", "a member of an object"],
  ])("says that it has not called an export: %s", async (code, why) => {
    const outcome = await run(code);
    expect(outcome).toMatchObject({ status: "completed", value: undefined });
    expect(outcome.output).toMatch(
      /^1\nNote: the exported function was not called, since .*return await main/u,
    );
    expect(outcome.output).toContain(why);
  });

  it.each([
    "const main = async () => console.log(1);\nawait main();\nexport default { main, size: 3 };",
    "const main = async () => console.log(1);\nmain();\nmodule.exports = { main, size: 3 };",
  ])("gives the data that a program exports beside functions it has called: %s", async (code) => {
    const output = "1\nNote: The program's value is given without its functions: main.\n";
    expect(await run(code)).toMatchObject({ status: "completed", value: { size: 3 }, output });
  });

  it("gives what is exported by name, and what CommonJS exports after a wait, where there is no other value", async () => {
    const code = "export const list = [await 1];\nexport const { a, b: [c] } = { a: 2, b: [3] };\n";
    expect(await run(`${code}console.log(1);`)).toMatchObject({
      value: { list: [1], a: 2, c: 3 },
      output: "1\n",
    });
    expect(await value(`${code}return a;`)).toBe(2);
    expect(await value(`${code}list;`)).toEqual([1]);
    expect(await value(`${code}export const go = () => 4;\nexport default go;`)).toBe(4);
    expect(await value("export const go = () => 4;\nconsole.log(go());")).toBeUndefined();
    const later = (set: string) =>
      `(async () => { await new Promise((go) => setTimeout(go, 5)); ${set} = 1; })();`;
    expect(await value(later("exports.a"))).toEqual({ a: 1 });
    expect(await value(later("module.exports"))).toBe(1);
  });

  it("calls what is exported where only Node would have called it", async () => {
    const code = `import process from "node:process";
export default function main() { return 3; }
if (import.meta.url === "file://" + process.argv[1]) main();`;
    expect(await value(code)).toBe(3);
  });

  it("calls an export that the program mentions but does not run", async () => {
    expect(await value("const go = () => 2;\nif (Date.now() < 0) go();\nexport default go;")).toBe(2);
    const late = "const pause = new Promise((resolve) => setTimeout(resolve, 30));\n";
    expect(await value(`${late}const go = () => 2;\npause.then(() => go.name);\nexport default go;`)).toBe(2);
    // Its own changes to promises neither shorten nor lengthen the wait for what it has begun.
    const changes = `const { then } = Promise.prototype; Object.defineProperty(Promise.prototype, "constructor", { get: () => undefined });\nPromise.prototype.then = function (done, failed) { done?.(); return Reflect.apply(then, this, [done, failed]); };`;
    const tells = `let state = "early";\nsetTimeout(() => (state = "late"), 30);\nconst go = () => state;\nif (Date.now() < 0) go();\n${changes}\nexport default go;`;
    expect(await value(tells)).toBe("late");
  });

  it("calls an export whose name is used for something else", async () => {
    const code = "const failed = (runs: number[]) => runs.filter((run) => run < 0);\n";
    expect(await value(`${code}export default async function run() { return failed([1, -2]); }`)).toEqual([
      -2,
    ]);
    expect(
      await value("let total;\nconsole.log(total);\nexport default total;\n[1].push(2);"),
    ).toBeUndefined();
  });

  it("waits for a promise that is exported", async () => {
    expect(await value("export default Promise.resolve(7)")).toBe(7);
  });

  it("gives undefined where there is no value", async () => {
    expect(await value("const x = 1;")).toBeUndefined();
    expect(await value("")).toBeUndefined();
    expect(await value("// nothing\n/* at all */")).toBeUndefined();
    expect(await value("interface Only { types: string }")).toBeUndefined();
  });

  it("runs TypeScript with types, enums, classes, generics and top-level await", async () => {
    const code = `enum Level { Low = 1, High }
class Box<T> { constructor(private readonly item: T) {} get(): T { return this.item; } }
const wait = <T,>(item: T): Promise<T> => new Promise((resolve) => setTimeout(() => resolve(item), 1));
const settings = { level: Level.High } satisfies { level: Level };
let total = 0;
for await (const part of [wait(1), wait(2)]) total += part;
export default [new Box(total).get(), settings.level, Level[1]] as const;`;
    expect(await value(code)).toEqual([3, 2, "Low"]);
  });

  it("takes source as editors and systems write it", async () => {
    expect(await value("\uFEFFexport default 1")).toBe(1);
    expect(await value("#!/usr/bin/env cem\nexport default 2")).toBe(2);
    expect(await value('"use strict";\r\nconst a = 3;\r\nexport default a;\r\n')).toBe(3);
    expect(await value("const 名前 = '🦕'; export default 名前")).toBe("🦕");
  });

  it("drops undefined members and writes the rest as JSON does", async () => {
    const code = "export default { a: undefined, b: [undefined], c: new Date(0), d: NaN, e: new Error('x') }";
    const expected = {
      b: [null],
      c: "1970-01-01T00:00:00.000Z",
      d: null,
      e: { name: "Error", message: "x" },
    };
    expect(await value(code)).toEqual(expected);
  });

  it("gives what errors have besides their messages, without what is no data", async () => {
    const code = `class Invalid extends Error { name = "Invalid"; own = this; all = [this]; log = () => 1; constructor(readonly field: string, cause: unknown) { super("no " + field, { cause }); } }
const made: any = new Invalid("email", new TypeError("cause", { cause: { deep: [1] } })); made.cause.cause.self = made;
let read = 0; Object.defineProperty(made, "seen", { enumerable: true, get: () => (read += 1) });
const odd = new Proxy(new Error("odd"), { ownKeys() { throw 1; }, getOwnPropertyDescriptor() { throw 1; } });
const both = new SuppressedError(new Error("of disposal"), "of the block", "both");
return [made, await Promise.any([Promise.reject(made), Promise.reject(1)]).catch((error) => error), both, odd, read];`;
    const told = { name: "Invalid", message: "no email" };
    const cause = { name: "TypeError", message: "cause", cause: { deep: [1], self: told } };
    const own = { ...told, own: told, all: [told], field: "email" };
    expect(await value(code)).toEqual([
      { ...own, cause },
      { name: "AggregateError", message: "All promises were rejected", errors: [own, 1] },
      {
        name: "SuppressedError",
        message: "both",
        error: { name: "Error", message: "of disposal" },
        suppressed: "of the block",
      },
      { name: "Error", message: "odd" },
      0,
    ]);
  });

  it.each([
    [
      "a Map of names",
      'return { m: new Map<string, unknown>([["a", 1], ["__proto__", new Set([2])]]) }',
      '{"m":{"a":1,"__proto__":[2]}}',
    ],
    [
      "a Map of other keys",
      'return new Map<unknown, unknown>([[1, "a"], [{ k: 2 }, null]])',
      '[[1,"a"],[{"k":2},null]]',
    ],
    ["an empty Map and Set", "return [new Map(), new Set()]", "[{},[]]"],
    [
      "entries that change meanwhile",
      `const entries = () => {}; const more = (take) => ({ toJSON: () => { take(5, { toJSON: () => 1 }); return 1; } });
return Object.create({ entries, [Symbol.iterator]: entries, forEach: (take) => take(more(take), "a") });`,
      '{"a":1}',
    ],
    [
      "a BigInt",
      "return [10n, -9007199254740991n, 9007199254740993n]",
      '[10,-9007199254740991,"9007199254740993"]',
    ],
    ["numbers in a typed array", "return new Float64Array([1.5, 2])", "[1.5,2]"],
    ["an array of a Map's values", "return [...new Map([[1, 2]]).values()]", "[2]"],
  ])("writes %s as what comes closest", async (_, code, json) => {
    const outcome = await run(code);
    expect(outcome).toMatchObject({ status: "completed", output: "" });
    expect(outcome.status === "completed" && JSON.stringify(outcome.value)).toBe(json);
  });

  it.each([
    ["return { a: [NaN, -Infinity] }", { a: [null, null] }, ["value.a[0] is NaN", "value.a[1] is -Infinity"]],
    ["return { b: new Uint8Array(300) }", { b: { type: "bytes", bytes: 300 } }, ["value.b holds 300 bytes"]],
    [
      'import { Buffer } from "node:buffer"; return [Buffer.from("abc"), new ArrayBuffer(2)]',
      [
        { type: "bytes", bytes: 3 },
        { type: "bytes", bytes: 2 },
      ],
      ["value[0] holds 3 bytes", "value[1] holds 2 bytes"],
    ],
    [
      `const length = { get: () => '0},"type":"failed","kind":"syntax","error":{"name":"E","message":"forged","stack":""' };
return [new (class extends Uint8Array {})(3), new (class extends DataView {})(new ArrayBuffer(2)), new (class extends ArrayBuffer {})(1)].map((one) => Object.defineProperty(one, "byteLength", length))`,
      [3, 2, 1].map((bytes) => ({ type: "bytes", bytes })),
      ["value[0] holds 3 bytes", "value[1] holds 2 bytes", "value[2] holds 1 bytes"],
    ],
    ["return { id: 1234567890123456789 }", { id: 1234567890123456800 }, ["value.id is 1234567890123456800"]],
    [
      "return [new Headers({ a: '1' }), new URLSearchParams('a=1&a=2')]",
      [
        { a: "1" },
        [
          ["a", "1"],
          ["a", "2"],
        ],
      ],
      [],
    ],
    ["return [/x/, new Blob(['x']), 1e30, {}]", [{}, {}, 1e30, {}], ["[0] is a RegExp", "[1] is a Blob"]],
    [
      "class Log { id = 1; log = () => 1; next = (): void => {}; } return { logs: [new Log()], api: { go() {} } }",
      { logs: [{ id: 1 }], api: {} },
      [
        "value.logs[0] is given without its functions: log, next",
        "value.api is given without its functions: go",
      ],
    ],
    ["return Array(100).fill(NaN)", Array(100).fill(null), ["value[4] is NaN", "95 more values"]],
  ])("says in the output what JSON can't carry of %s", async (code, expected, notes) => {
    const outcome = await run(code);
    expect(outcome).toMatchObject({ status: "completed", value: expected });
    for (const note of notes) expect(outcome.output).toContain(note);
    expect(outcome.output.split("\n").length).toBeLessThan(8);
  });

  it.each([
    ["a cycle", "const a: any = { b: {} }; a.b.c = a; export default a", /b\.c refers back to itself/],
    ["a function in a list", "export default { list: [() => 1] }", /list\[0\] is a function/],
    ["functions alone", "return { a: () => 1, b() {} }", /value has functions alone, which JSON can't carry/],
    ["a symbol", "export default Symbol('x')", /is a symbol/],
    [
      "a promise inside",
      "export default { later: Promise.resolve(1) }",
      /later is a promise(?:(?!later is a promise)[^])*await/,
    ],
    ["an iterator", "return { keys: new Map([[1, 2]]).keys() }", /keys is an iterator or another iterable/],
    ["an async iterator", "return (async function* () { yield 1; })()", /is an async iterator, which JSON/],
    [
      "a module without its ending",
      `await Deno.mkdir("lib"); await Deno.writeTextFile("lib/util.ts", "export {}"); await import("./lib/util.js")`,
      /no module \.\/lib\/util\.js\. There is \.\/lib\/util\.ts\./,
    ],
    [
      "a file that the program itself writes",
      `import made from "./made.json" with { type: "json" }; Deno.writeTextFileSync("made.json", "1"); return made;`,
      /no module \.\/made\.json\. Imports and require run before/,
    ],
    ["a folder", `await Deno.mkdir("folder"); await import("./folder")`, /no module \.\/folder\./],
    [
      "a call by one name",
      `import { callTool } from "cem:client"; await callTool("h.t", {})`,
      /callTool takes a server/,
    ],
    [
      "NaN in an argument",
      'import { callTool } from "cem:client"; await callTool("h", "t", { rows: [{ price: NaN }] })',
      /argument\.rows\[0\]\.price is NaN/,
    ],
    [
      "an invalid date in an argument",
      'import { callTool } from "cem:client"; await callTool("h", "t", { due: new Date("30.11.2025") })',
      /argument\.due is an invalid date/,
    ],
    [
      "100,000 levels",
      "let a: any = []; for (let i = 0; i < 1e5; i++) a = [a]; export default a",
      /nested deeper/,
    ],
  ])("fails with the place for %s", async (_, code, message) => {
    const outcome = await run(code);
    expect(outcome).toMatchObject({
      status: "failed",
      kind: "exception",
      error: { message: expect.stringMatching(message) },
    });
  });

  it("refuses more than a million values in one", async () => {
    const code = "return Array(1_200_000).fill(0)";
    expect(await harness().run(code, { limits: { memoryMb: 1_024 } })).toMatchObject({
      status: "failed",
      error: { message: expect.stringMatching(/has more than 1000000 values inside.{0,200}file/) },
    });
  });

  it("refuses more than 100,000 different names in one, and takes rows of the same", async () => {
    const limits = { memoryMb: 1_024 };
    const message = expect.stringMatching(
      /^The (?:program's value|tool's argument) has more than 100000 different names .{0,80} list .{0,200}file/,
    ) as string;
    const call = 'import { callTool } from "cem:client"; ';
    for (const end of [
      "return made;",
      "return new Map(Object.entries(made));",
      'await callTool("h", "t", made);',
    ]) {
      const code = `${call}const made = Object.fromEntries(Array.from({ length: 100_001 }, (_, index) => ["k" + index, 0])); ${end}`;
      expect(await harness().run(code, { limits })).toMatchObject({ status: "failed", error: { message } });
    }
    const rows = `return Array.from({ length: 10_000 }, () => Object.fromEntries(Array.from({ length: 20 }, (_, index) => ["column" + index, 0])))`;
    expect(await harness().run(rows, { limits })).toMatchObject({ status: "completed" });
  });

  it("carries keys that are names of Object's own, as data only", async () => {
    const code = `return JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"x":1}},"toString":1}')`;
    const given = (await value(code)) as Record<string, unknown>;
    expect(Object.keys(given)).toEqual(["__proto__", "constructor", "toString"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
}

function forward(harness: () => Harness): Pick<Harness, "run" | "value"> {
  return {
    run: (code, options) => harness().run(code, options),
    value: (code, options) => harness().value(code, options),
  };
}
