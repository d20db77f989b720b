import { stripTypeScriptTypes } from "node:module";
import { describe, expect, it } from "vitest";
import { compileProgram } from "./compile-program.ts";
import { exportLastValue } from "./export-last-value.ts";

interface ImportRequest {
  specifier: string;
  attributes: Record<string, string>;
  names: { name: string; line: number; column: number }[];
}

interface Evaluated {
  returned: unknown;
  exported: unknown;
  last: unknown;
  named: object | undefined;
  isMentioned: boolean;
  ran: string | undefined;
  requests: ImportRequest[];
}

function source(code: string): string {
  const result = compileProgram(code);
  if (!result.ok) throw new Error(`${result.error.message} (line ${result.error.line})`);
  return result.compiled.source;
}

function problem(code: string) {
  const result = compileProgram(code);
  if (result.ok) throw new Error(`The program had to be refused: ${result.compiled.source}`);
  return result.error;
}

/** Runs a program as a guest would, with these modules. */
async function evaluate(code: string, modules: Record<string, object> = {}): Promise<Evaluated> {
  const script = stripTypeScriptTypes(source(code), { mode: "transform" });
  const url = `data:text/javascript;base64,${Buffer.from(script).toString("base64")}`;
  const { default: main } = (await import(url)) as { default: (runtime: object) => Promise<unknown> };
  const requests: ImportRequest[] = [];
  const runtime = {
    import: async (asked: ImportRequest[]) => {
      requests.push(...asked);
      return asked.map(({ specifier }) => modules[specifier]);
    },
    load: async (specifier: string) => modules[specifier],
    meta: { url: "file:///workspace/program.ts", main: true },
    default: undefined as unknown,
    module: undefined as { exports: unknown } | undefined,
    last: undefined as unknown,
    named: undefined as object | undefined,
    isMentioned: false,
    ran: undefined as string | undefined,
  };
  const returned = await main(runtime);
  const { default: exported = runtime.module?.exports, last, named, isMentioned, ran } = runtime;
  return { returned, exported, last, named, isMentioned, ran, requests };
}

describe("compileProgram", () => {
  it("compiles a member of a member of a member, and so on", () => {
    expect(source(`exports${".a".repeat(20_000)} = 1;`)).toContain("const { exports } = module;");
  });

  it("compiles what is assigned, contained or named as often as a program can", () => {
    const names = (length: number) => Array.from({ length }, (_, index) => `v${index}`).join();
    const codes = [
      `let x; export default x;\n${"x=1;".repeat(70_000)}`,
      `let x; export default x;\n${"x=[x];".repeat(49_000)}`,
      `const [${names(49_000)}] = [${"1,".repeat(49_000)}];\nexport default [${names(49_000)}];`,
      `export const [${names(140_000)}] = [];`,
    ];
    expect(codes.map((code) => compileProgram(code).ok)).toEqual(codes.map(() => true));
  });

  it("keeps every line where it was, one line below", () => {
    const code = `import { add } from "./servers/calculator/index.ts";
const a: number = await add({ a: 1, b: 2 });

export default a;
// the end`;
    const lines = source(code).split("\n");
    expect(lines[2]).toBe("const a: number = await add({ a: 1, b: 2 });");
    expect(lines[5]).toBe("// the end");
    expect(lines[4]?.indexOf("a;")).toBe("export default a;".indexOf("a;"));
    expect(compileProgram(code)).toMatchObject({ compiled: { lineOffset: 1 } });
  });

  it.each([
    ["1 + 2;", 3],
    ["const a: number = 1;\n// sum\na + 2 // end", 3],
    ["const a = 1\n;[a, 2].map((x) => x * 2)", [2, 4]],
    ["let a = 1;\na = 5", 5],
    ["1, 2;", 2],
    ["(1, 2);", 2],
    ["({ a: 1 } satisfies object as { a: number });", { a: 1 }],
    ["const f = <T,>(x: T): T => x;\nf<number>(4)!;", 4],
    ["main();\ninterface A { a: 1 }\nfunction main() { return 7; }\ntype B = 1;", 7],
    ["await Promise.resolve(8)", 8],
    ['"text"', "text"],
    ['"use strict"', undefined],
    ['import a from "./m.ts"; a', "A"],
    ["[1].forEach((x) => { return x; });\nclass C { m() { return 1; } }\nnew C().m()", 1],
    ["if (1) { 2 }", undefined],
    ["for (const x of [1]) x;", undefined],
    ["const a = 1;", undefined],
    ["void 0", undefined],
    ["3;\nconst a = 1;", undefined],
    ["if (0) return 1;\n5", undefined],
    ["for (;;) { break; return 1 }\n5", undefined],
    ["export default 4;\n5", undefined],
    ["const a = 4; export { a as default };\n5", undefined],
  ])("takes the value of a last expression: %s", async (code, value) => {
    expect((await evaluate(code, { "./m.ts": { default: "A" } })).last).toEqual(value);
  });

  it("keeps the columns of a last expression", () => {
    const lines = source("const a = 1 // one\n  a.b\n  .c;").split("\n");
    expect(lines.slice(2, 4)).toEqual(["  a.b", "  .c;"]);
    expect(source("a.b;").split("\n")[1]).toBe("a.b;");
  });

  it("loads imports first and binds named, default and whole modules", async () => {
    const code = `const early = typeof b;
import main, { a as b, "odd name" as odd } from "./m.ts"; const same = 1;
import * as all from "./m.ts";
import "./effect.ts";
import data from "./d.json" with { type: "json" };
return [early, main, b, odd, same, all.a, data];`;
    const m = { default: "D", a: "A", "odd name": "O" };
    const { returned, requests } = await evaluate(code, {
      "./m.ts": m,
      "./effect.ts": {},
      "./d.json": { default: 5 },
    });
    expect(returned).toEqual(["string", "D", "A", "O", 1, "A", 5]);
    expect(requests.map(({ specifier }) => specifier)).toEqual([
      "./m.ts",
      "./m.ts",
      "./effect.ts",
      "./d.json",
    ]);
    expect(requests[0]?.names).toContainEqual({ name: "a", line: 2, column: 16 });
    expect(requests[3]?.attributes).toEqual({ type: "json" });
  });

  it("leaves out imports that only types refer to", async () => {
    const code = `import type { A } from "./a.ts";
import { B, value, Unused } from "./b.ts";
import { C } from "./c.ts";
import C2 from "./c2.ts";
const b: B = value; const c = { B: 1, C: b }.C as C;
class D implements C2 {}
return c;`;
    const { returned, requests } = await evaluate(code, { "./b.ts": { value: 1 } });
    expect(returned).toBe(1);
    expect(requests).toMatchObject([{ specifier: "./b.ts", names: [{ name: "value" }] }]);
  });

  it.each([
    "declare class A extends x {}",
    "declare const a: typeof x;",
    "const a = 1; export { a as x };",
    "const a = { x: 1 }.x;",
    "class A { x() {} }",
    "enum A { x = 1 }",
    "export { type x };",
    "x: for (;;) break x;",
  ])("loads nothing for a name that is no variable at run time: %s", async (code) => {
    expect((await evaluate(`import { x } from "./m.ts"; ${code}`)).requests).toEqual([]);
  });

  it.each([
    ["return x as unknown;", "v"],
    ["return x satisfies string;", "v"],
    ["return x!;", "v"],
    ["return <string>x;", "v"],
    ["return (x<string>);", "v"],
    ["enum A { a = `${x}`.length } return A.a;", 1],
    ["class A { constructor(readonly a = x) {} } return new A().a;", "v"],
    ["return { v: 1 }[x];", 1],
    ["return { [x]: 2 }.v;", 2],
    ["class A { [x]() { return 3; } } return new A().v();", 3],
    ["return { x }.x;", "v"],
  ])("loads what is used at run time: %s", async (code, expected) => {
    const { returned } = await evaluate(`import { x } from "./m.ts"; ${code}`, { "./m.ts": { x: "v" } });
    expect(returned).toBe(expected);
  });

  it.each([
    ["an expression", "export default 1 + 1", 2],
    ["an arrow function", "export default () => 1\n;[1].map(String)", "function"],
    ["an anonymous function, hoisting aside", "export default function () {}\n(1)", "function"],
    ["an async function", "export default async function () {}", "function"],
    ["a class", "export default class {}", "function"],
    ["an abstract class", "export default abstract class { abstract x: number }", "function"],
    ["a name", "const x = 3; export { x as default };", 3],
    ["a re-export", 'export { a as default } from "./m.ts";', "A"],
    ["a re-export among others", 'export { a as default, b as other, b } from "./m.ts";', "A"],
    ["a name among others", "const x = 3, y = 4; export { y, x as default, y as z };", 3],
    ["an object, with a comment between", "export /* the */ default /* value */ { a: 1 }", "object"],
    ["what stands in parentheses", "export default (await Promise.resolve(5));", 5],
    ["what stands in two of them", "export default ((\n  1, 2 as number\n));", 2],
    ["an arrow function in parentheses", "export default (async () => 1)", "function"],
    [
      "a main function that nothing calls",
      'import "./m.ts";\nasync function main() {}\ntype T = 1;',
      "function",
    ],
    [
      "a main function beside literals",
      "const SIZE = 50, CITIES = ['Oslo', { a: -1 }];\nlet n;\nconst help = () => 1;\nconst main = async () => {};",
      "function",
    ],
    ["an exported main function", "function help() {}\nexport async function main() {}", "function"],
    [
      "a program that is an arrow function",
      'import { a } from "./m.ts";\nasync () => { return a; };',
      "function",
    ],
    ["a program that is a function", "(async function () { return 1; })", "function"],
  ])("takes %s as the default export", async (_, code, expected) => {
    const { exported } = await evaluate(code, { "./m.ts": { a: "A", b: "B" } });
    const seen = typeof exported === "object" || typeof exported === "function" ? typeof exported : exported;
    expect(seen).toBe(expected);
  });

  it.each([
    "function main(name) {}",
    "function helper() {}",
    "function main() {}\nfunction run() {}",
    "const x = Date.now();\nfunction main() {}",
    "const x = { a: [Date.now()] };\nfunction main() {}",
    "const { x = main() } = {};\nfunction main() {}",
    "const main = Object(async () => {});",
    "const main = (name) => {};",
    "(name) => name",
    "const x = 1;\n() => x",
    "main();\nfunction main() {}",
  ])("calls no function of %j by itself", async (code) => {
    expect((await evaluate(code)).exported).toBeUndefined();
  });

  const main = "async function main() { return 5; }\n";
  const once = "const once = (f) => f;\n";
  it.each([
    `${main}main();\nexport default main;`,
    `${main}export { main as default };\nmain();\nexport { main };`,
    "export default async function main() { return 5; }\nawait main();",
    "const main = async () => 5;\nmain();\nmodule.exports = main;",
    "const main = () => 5, more = () => 1;\nmain(more());\nmodule.exports = main;\nexports.more = more;",
    "module.exports = async () => 5;\nmodule.exports();",
    "const main = (async () => 5) satisfies () => Promise<number>;\nmain();\nexport default main;",
    "const main = (async () => 5) as () => Promise<number>;\nmain!();\nexport default main;",
    `${once}const main = once(async () => 5);\nawait main();\nexport default main;`,
    "const main = Object.assign(async () => 5, {});\nmain();\nmodule.exports = main;",
    "let main;\nmain = async () => 5;\nawait main();\nexport default main;",
    "const { main } = { main: async () => 5 };\nawait main();\nexport default main;",
    "const work = async () => 5;\nconst main = work;\nawait work();\nexport default main;",
    "const api = { go: async () => 5 };\nawait api.go();\nexport default api.go;",
    "class Job { static async run() { return 5; } }\nawait Job.run();\nexport default Job.run;",
    `${main}export default main;\nimport.meta.main && main();\n5;`,
    `${main}export default main;\nif (import.meta.main) main();\n5;`,
    `${main}export default main;\ntry { main(); } finally { String(1); }\n5;`,
    `${main}export default main;\ntry { if (main) throw 1; } catch {}\nif (!main) throw 1;\nmain();\n5;`,
  ])("leaves alone what a program exports and calls itself: %j", async (code) => {
    const { last, ran } = await evaluate(code);
    expect([ran, await last]).toEqual(["whole", 5]);
  });

  it.each([
    [`${once}${main}await main();\nexport default once(main);`, "part"],
    [`${main}await main();\nexport default main.bind(null);`, "part"],
    [`${once}const main = once(() => 5);\n[main].forEach((run) => run());\nexport default main;`, "part"],
    ["const run = () => 5;\nrun();\nmodule.exports = { run };", "part"],
    ["const api = { go() {}, all() {} };\napi.all();\nexport default api.go;", "part"],
    ["const [main] = [() => ({ size: 5 })];\n[1].map(main);\nexport default main;", "part"],
    [`${main}const all = { main };\nawait all.main();\nexport default main;`, "whole"],
    [`${main}await (async () => { await main(); })();\nexport default main;`, "whole"],
    [`${main}const start = () => main();\n\nawait start();\nexport default main;`, "whole"],
    [
      "let main;\nconst set = () => { main = () => 5; return main(); };\nset();\nexport default main;",
      "whole",
    ],
    [`${main}const size = 0;\nif (size) String(size);\nelse main();\nexport default main;`, "whole"],
    ["const run = () => import.meta.url;\n[1].forEach(run);\nexport default run;", "whole"],
    ["const run = (() => (({ size: 5 })));\n[1].forEach(run);\nexport default (run)", "whole"],
    ["const make = () => () => 5;\nconst main = make();\nmain();\nexport default main;", "whole"],
    ["const { go } = (() => ({ go: () => 5 }))();\ngo();\nexport default go;", "whole"],
    ["class Job { main = () => 5; }\nconst job = new Job();\njob.main();\nexport default job.main;", "whole"],
    ["const all = new Map();\nall.set(1, () => 5);\nall.get(1)();\nexport default all.get(1);", "whole"],
    ["const fns = [() => 5];\nfor (const fn of fns) fn();\nexport default fns[0];", "part"],
    ["const fns = [];\nfns.push(() => 5);\nfor (const fn of fns) fn();\nexport default fns[0];", "part"],
    ["function task(run) { run(); return run; }\nexport default task(() => 5);", "part"],
    [
      "const all = [];\nconst task = (run) => (all.push(run), run);\nconst main = task(() => 5);\nall[0]();\nexport { main as default };",
      "part",
    ],
    ["class Job { constructor() {} }\nnew Job();\nexport default Job;", "whole"],
    [`${main}const debug = false;\ndebug && main();\nexport default main;`, undefined],
    [`${main}switch (0) {\ncase 1: main(); }\nexport default main;`, undefined],
    [`${main}try { String(1); }\ncatch { main(); }\nexport default main;`, undefined],
    [`${main}for (const one of [])\nmain(one);\nexport default main;`, undefined],
    [`${main}export default main;\nif (Date.now() < 0) return;\n`, undefined],
    ["module.exports = () => 5;\nconst size = 0;\nif (size) module.exports();", undefined],
  ])("marks what is exported as soon as it runs: %j", async (code, ran) => {
    expect((await evaluate(code)).ran).toBe(ran);
    const { added } = exportLastValue(`${code}\nconst more = 1;`);
    expect(added.length === 0 || ran === "whole").toBe(true);
  });

  it.each([
    "async function main(n) { if (n > 1) await main(n - 1); }\nexport default main;",
    "const main = () => setTimeout(main);\nmodule.exports = main;",
    "const o = { main: 1 };\no.main;\nexport default function main() {}",
    "const ok = (runs) => runs.filter((run) => run);\nexport default function run() { return ok([]); }",
    "for (const main of [1]) main + 1;\ntry { throw 1; } catch (main) { String(main); }\nexport default function main() {}",
    "function f({ main }) { const run = main; return run; }\nf({ main: 1 });\nexport default function main() {}",
    "export default function main() { return step(); }\nfunction step() { return main(); }",
    `${main}const start = () => main();\nexport default main;`,
    `${main}main.label = typeof main + main.name;\nexport default main;`,
    `${once}export default once(async () => 5);`,
    `${main}export default main.bind(null);`,
    "let main;\nmain = async () => 5;\nexport default main;",
    "const main = 1;\nString(main);\nexport default (async function main() {});",
    `${main}if (typeof require !== "undefined" && require.main === module) main();\nmodule.exports = main;`,
    `${main}if (import.meta.url === \`file://\${globalThis.process.argv[1]}\`) { main(); }\nexport default main;`,
  ])("gives what only others call: %j", async (code) => {
    const { exported, ran } = await evaluate(code);
    expect(exported).toBeTypeOf("function");
    expect(ran).toBeUndefined();
  });

  it("hoists a default-exported function that has a name", async () => {
    const code = "const early = main();\nexport default function main() { return 7; }\nreturn early;";
    expect((await evaluate(code)).returned).toBe(7);
  });

  it("lets a top-level return end the program", async () => {
    expect((await evaluate("return 'early';\nthrow new Error('late');")).returned).toBe("early");
  });

  it("strips other exports and what is only declared", async () => {
    const code = `export const a = 1;
export let b = 2, c = 3;
export function d() { return 4; }
export class E { static value = 5; }
export enum F { G = 6 }
export type H = string;
export interface I { x: number }
export declare const j: number;
declare global { interface Window { k: 1 } }
declare module "l" { export const m: number }
declare function n(): void;
export { a as renamed };
export {};
export type { H as P };
export function q(x: string): string;
export function q(x: number): number;
export function q(x: unknown) { return x; }
return [a, b, c, d(), E.value, F.G, q(7)];`;
    expect((await evaluate(code)).returned).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it("loads re-exported modules for what they do", async () => {
    const { requests } = await evaluate('export * from "./a.ts"; export { b } from "./b.ts";', {
      "./a.ts": {},
      "./b.ts": { b: 1 },
    });
    expect(requests).toMatchObject([
      { specifier: "./a.ts", names: [] },
      { specifier: "./b.ts", names: [{ name: "b" }] },
    ]);
  });

  it("leads dynamic imports and import.meta through the guest", async () => {
    const code = `const { a } = await import("./m.ts"); return [a, import.meta.url, \`\${(await import("./m.ts")).a}\`];`;
    const { returned } = await evaluate(code, { "./m.ts": { a: "A" } });
    expect(returned).toEqual(["A", "file:///workspace/program.ts", "A"]);
  });

  it.each(["import.meta.url", "import .meta.url", "import\n. meta.url", "import/* it */.meta.url"])(
    "finds %j",
    async (code) => {
      expect((await evaluate(`return ${code};`)).returned).toBe("file:///workspace/program.ts");
    },
  );

  it("leaves new.target alone", async () => {
    const code = "class A { own = new.target; } return new A().own === A || new A().own === undefined;";
    expect((await evaluate(code)).returned).toBe(true);
    const target = "function F() { return new.target === F; } return [new F() instanceof F, F()];";
    expect((await evaluate(target)).returned).toEqual([true, false]);
  });

  it("lets a type have the name of an import, and a function's own variable", async () => {
    const code =
      'import { a, type b } from "./m.ts"; interface a {} const b = 2; { const a = 5; } export default [a, b];';
    expect((await evaluate(code, { "./m.ts": { a: "A" } })).exported).toEqual(["A", 2]);
  });

  it("gives the variables that are exported by name", async () => {
    const code = "export const a = 1, { b, ...c } = { b: 2, d: 3 };\nexport let e: number;\ne = 4;";
    expect((await evaluate(code)).named).toEqual({ a: 1, b: 2, c: { d: 3 }, e: 4 });
    expect((await evaluate("export declare const a: number;\nexport function f() {}")).named).toBeUndefined();
    const specified = await evaluate("const a = 1, [b] = [2];\nfunction f() {}\nexport { a, b as c, f };");
    expect(specified.named).toEqual({ a: 1, c: 2 });
  });

  it("calls its parameter $cem, or by a name that no program can know", async () => {
    expect(source("1")).toMatch(/^export default async \(\$cem\) => \{/);
    const code = "const $cem = 1, $cem0 = 2; export default $cem + $cem0;";
    expect(source(code)).toMatch(/async \(\$cem\d{6,}\) =>/);
    expect((await evaluate(code)).exported).toBe(3);
    expect((await evaluate("export default [typeof $c\\u0065m, typeof $c\\u{65}mm];")).exported).toEqual([
      "undefined",
      "undefined",
    ]);
  });

  it.each([
    ["a byte order mark", "\uFEFFexport default 1", 1],
    ["a hashbang", "#!/usr/bin/env cem\nexport default 2", 2],
    ["Windows line ends", '"use strict";\r\nimport { a } from "./m.ts";\r\nexport default a;\r\n', "A"],
    ["a comment without an end of line", "export default 3 // three", 3],
    ["an import over several lines", 'import {\n  a,\n} from "./m.ts";\nexport default a', "A"],
  ])("takes %s", async (_, code, expected) => {
    expect((await evaluate(code, { "./m.ts": { a: "A" } })).exported).toBe(expected);
  });

  it.each([
    ["module.exports = { a: 1 };", { a: 1 }],
    ["exports.a = 1;\nif (exports.a) module.exports.b = 2;", { a: 1, b: 2 }],
    ["module.exports = 5;\nexport default 6;", 6],
    ["const module = { exports: 1 };\nmodule.exports = 2;\nexport default module;", { exports: 2 }],
    ["const [exports] = [{}];\nexports.a = 1;\nexport default exports;", { a: 1 }],
    ["for (const module of [{}]) module.exports = 2;\nexport default 6;", 6],
  ])("takes the value of %j as meant", async (code, value) => {
    expect((await evaluate(code)).exported).toEqual(value);
  });

  it.each([
    [
      "namespace N { export const a = 1; export namespace M { export const b = a + 1; } }\nexport default N.M.b;",
      2,
    ],
    ["export namespace A.B { export const a = 3; }\nA.B.a", 3],
    ["namespace T { export type U = number; }\nconst a: T.U = 4;\nexport default a;", 4],
    ["declare namespace D { const a: number; }\nexport default 5;", 5],
  ])("takes namespaces: %j", async (code, value) => {
    const { exported, last } = await evaluate(code);
    expect(exported ?? last).toBe(value);
  });

  it.each(["@d class A {}", "class A { @d m() {} }", "class A { accessor a = 5; }"])(
    "says what to write in place of decorators and accessors: %s",
    (code) => {
      const message = expect.stringContaining("Use functions, get and set instead.");
      expect(problem(`function d() {}\n${code}`)).toMatchObject({ name: "SyntaxError", line: 2, message });
    },
  );

  it("refuses what a function body can't hold, with the line", () => {
    expect(problem("export = 1;")).toMatchObject({
      name: "SyntaxError",
      line: 1,
      message: expect.stringContaining("export default"),
    });
    expect(problem('\nimport fs = require("fs");')).toMatchObject({ line: 2 });
    expect(problem("export as namespace X;")).toMatchObject({ line: 1 });
  });

  it("can't be broken out of", () => {
    expect(problem("} evil(); {")).toMatchObject({ name: "SyntaxError", line: 1 });
    expect(problem("/* never closed")).toMatchObject({ name: "SyntaxError" });
    expect(problem("`never closed")).toMatchObject({ name: "SyntaxError" });
  });
});
