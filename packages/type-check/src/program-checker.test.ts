import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Finding } from "@cem/core";
import { afterAll, describe, expect, it } from "vitest";
import { hashOf, MISSING_FILE } from "./check-cache.ts";
import { ProgramChecker, type CheckedTool } from "./program-checker.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const WEATHER = 'import { get_forecast, get_weather, list_locations } from "./servers/weather/index.ts";\n';

/** A tool without a file: only its signature is known. */
const search: CheckedTool = {
  kind: "host",
  signature: "search(input: { query: string; limit?: number }): Promise<unknown>",
  module: "./servers/web/index.ts",
};

const checker = new ProgramChecker({
  serversDir: path.join(root, "servers"),
  skillsDir: path.join(root, "skills"),
});

function check(code: string, tools: readonly CheckedTool[] = []): string[] {
  return checker.check({ code, tools }).map(inWords);
}

function inWords({ line, rule, message }: Finding): string {
  return `${line} ${rule}: ${message}`;
}

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[$()*+.?[\\\]^{|}]/gu, String.raw`\$&`)}$`, "u");
}

/** A folder of its own for tools that change or lead away. */
const folder = mkdtempSync(path.join(os.tmpdir(), "cem-type-check-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const own = new ProgramChecker({ serversDir: path.join(folder, "servers") });

/** Writes a file of a server in that folder. */
function offer(server: string, source: string, name = "index.ts"): void {
  mkdirSync(path.join(folder, "servers", server), { recursive: true });
  writeFileSync(path.join(folder, "servers", server, name), source);
}

describe("ProgramChecker", () => {
  describe("check", () => {
    it.each([
      [
        'import { get_wether } from "./servers/weather/index.ts";',
        "1 unknown-export: get_wether is not exported by servers/weather. Did you mean get_weather?",
      ],
      [
        'import { double_numbr } from "/workspace/skills/double_number/index.ts";',
        "1 unknown-export: double_numbr is not exported by skills/double_number. Did you mean double_number?",
      ],
      [
        `${WEATHER}await get_weather({ city: "Oslo" });`,
        "2 wrong-arguments: get_weather has no parameter city. It takes location, month. get_weather needs location (string).",
      ],
      [
        `${WEATHER}await get_weather({ locaton: "Oslo" });`,
        "2 wrong-arguments: get_weather has no parameter locaton. Did you mean location? get_weather needs location (string).",
      ],
      [
        `${WEATHER}\nawait get_forecast({ location: "Oslo", days: "3" });`,
        "3 wrong-arguments: get_forecast takes days: number, not string.",
      ],
      [
        `${WEATHER}await get_weather({ location: "Oslo" }, 1);`,
        "2 wrong-arguments: get_weather takes 1 argument, not 2.",
      ],
      [
        `${WEATHER}await get_weather();`,
        /^2 wrong-arguments: get_weather needs \{ location: string; month\?: /,
      ],
      [
        `${WEATHER}await get_weather({ location: "Oslo", month: "Juli" });`,
        /month: "January" .* not "Juli"\. Did you mean July\?$/,
      ],
      [
        `${WEATHER}await Promise.all(["Oslo"].map(get_weather));`,
        /^2 wrong-arguments: .* write \(item\) => get_weather\(…\)\.$/,
      ],
      [
        `${WEATHER}const weather = get_weather({ location: "Oslo" });\nexport default weather.temperature;`,
        "3 missing-await: weather is a Promise: write (await weather).temperature.",
      ],
      [
        `${WEATHER}const weather = await get_weather({ location: "Oslo" });\nexport default weather.temprature;`,
        "3 unknown-member: weather has no temprature: it is Weather. Did you mean temperature?",
      ],
      [
        `${WEATHER}const { degrees } = await get_weather({ location: "Oslo" });`,
        /^2 unknown-member: .* has no degrees: it is Weather\. It has location, country, /,
      ],
      [
        `${WEATHER}const days = await get_forecast({ location: "Oslo" });\nexport default days.temperature;`,
        "3 unknown-member: days has no temperature: it is ForecastDay[].",
      ],
      [
        `${WEATHER}await get_weather("Oslo");`,
        /^2 wrong-arguments: get_weather takes \{ location: string; month\?: .*, not "Oslo"\.$/,
      ],
      [
        `${WEATHER}await get_weather(["Oslo"]);`,
        /^2 wrong-arguments: get_weather takes \{ location: string; month\?: .*, not string\[\]\.$/,
      ],
      [
        "const total = 5;\nexport default totl;",
        "2 unknown-name: totl is not defined here. Did you mean total?",
      ],
      [
        "const user = { name: 'Ada' };\nuser();",
        "2 not-callable: user is not a function: it is { name: string; }.",
      ],
      [
        "const limit = 1;\nlimit = 2;",
        "2 constant-assigned: limit is a const and can't be given another value.",
      ],
    ])("finds in %j what a run would fail on", (code, finding) => {
      const [found] = check(code);
      expect(found).toMatch(finding instanceof RegExp ? finding : exactly(finding));
    });

    it.each([
      [`${WEATHER}export default await get_weather({ location: "Oslo", month: "July" });`],
      [`${WEATHER}const at = { location: "Oslo", note: 1 };\nexport default await get_weather(at);`],
      // Top-level return, output, the runtime's own parts, modules of the workspace and of Node.
      ["console.log(1);\nif (Date.now() > 0) { return 5; }\nawait Promise.resolve();"],
      [
        'import data from "./data.json" with { type: "json" };\nimport { a } from "./lib/a.ts";\nexport default [data.x, a()];',
      ],
      [
        'import { readFile } from "node:fs/promises";\nexport default await readFile("/workspace/x", "utf8");',
      ],
      [
        "export default [await Deno.readTextFile('x'), new URL('http://x').host, crypto.randomUUID(), process.env.X];",
      ],
      // What a person writes who thinks in JavaScript.
      ["const out = {};\nout.sum = 3;\nout['x'] = out.sum;\nexport default out;"],
      [
        "const list = [];\nlist.push({ n: 1 });\nlet best = null;\nfor (const one of list) if (!best || one.n > best.n) best = one;\nexport default best.n;",
      ],
      [
        "let x = 5;\nx = 'five';\nfunction f(a, b) { return a + (b ?? 0); }\nexport default [x, f(1), f(1, 2, 3), parseInt(5.5)];",
      ],
      ["try { throw new Error('x'); } catch (e) { console.log(e.code, e instanceof Error && e.status); }"],
      ["const r = await new Promise((resolve) => setTimeout(() => resolve(5), 1));\nexport default r + 1;"],
      ["const m = new Map();\nm.get('a').b;\n[1, 2].find((n) => n > 1).toFixed(2);\nJSON.parse('{}').a.b;"],
      ["const key: unknown = JSON.parse('{}');\nexport default key.a.b();"],
      ["if (typeof Shiny !== 'undefined') Shiny.polish();"],
      ['import { get_wether } from "servers/weather/index.ts";\nget_wether();'],
      [`${WEATHER}function run(o: { call: (x: string) => void }) {}\nrun({ call: get_weather });`],
      ["if (typeof Bun !== 'undefined') Bun.gc();\nconst x: Missing<string> = 1 as any;\nexport default x;"],
      [
        `${WEATHER}const cities = await list_locations();\nfor (const city of cities) city.warm = true;\nexport default cities.filter((city) => city.warm);`,
      ],
      [
        "enum Level { Low, High }\nclass Box<T> { constructor(private item: T) {} }\nexport default [Level.High, new Box(1)];",
      ],
      ["const unused = 1;\nwhile (false) {}\nlabel: for (;;) break label;\nvar twice = 1; var twice = 2;"],
    ])("lets %j pass", (code) => {
      expect(check(code)).toEqual([]);
    });

    it("leaves a syntax error to the run", () => {
      expect(check("export default {;\nget_wether(")).toEqual([]);
    });

    it("knows a tool without a file by its signature, and allows anything on unknown results", () => {
      const imports = 'import { search } from "./servers/web/index.ts";\n';
      const good = `${imports}const { items } = await search({ query: "x" });\nfor (const item of items) item.a.b();`;
      expect(check(good, [search])).toEqual([]);
      expect(check(`${imports}await search({ quer: "x" });`, [search])).toEqual([
        "2 wrong-arguments: search has no parameter quer. Did you mean query? search needs query (string).",
      ]);
      expect(check(imports.replace("search", "find"), [search])).toEqual([
        "1 unknown-export: find is not exported by servers/web. It exports search.",
      ]);
      expect(check(imports)).toEqual([]);
    });

    it("lets a tool that takes nothing be called like the others", () => {
      const ping = { ...search, signature: "ping(): Promise<unknown>" };
      const code = 'import { ping } from "./servers/web/index.ts";\nawait ping({});';
      expect(check(code, [ping])).toEqual([]);
      expect(check(code.replace("{}", "{ host: 1 }"), [ping])).toEqual([
        "2 wrong-arguments: ping takes 0 arguments, not 1.",
      ]);
    });

    it("knows a tool on the host that stands in one module with tools in files", () => {
      const module = "./servers/weather/index.ts";
      const tool = { ...search, module, signature: "warn(input: { about: string }): Promise<unknown>" };
      // What the file says holds, where both know a tool.
      const known = { ...tool, signature: "get_weather(input: { x: 1 }): Promise<1>" };
      const imports = 'import { get_weather, warn } from "./servers/weather/index.ts";\n';
      const calls =
        'const { temperature } = await get_weather({ location: "Oslo" });\nawait warn({ about: `${temperature}` });';
      expect(check(`${imports}${calls}`, [tool, known])).toEqual([]);
      expect(check(`${imports}${calls.replace("about", "abut")}`, [tool, known])).toEqual([
        "3 wrong-arguments: warn has no parameter abut. Did you mean about? warn needs about (string).",
      ]);
      // Without it, it is gone again.
      expect(check(`${imports}${calls}`)).toEqual([
        "1 unknown-export: warn is not exported by servers/weather. It exports get_forecast, get_weather, list_locations.",
      ]);
    });

    it("reports each mistake once, and no more than twenty", () => {
      expect(check("export default [apples, oranges, apples];\napples;")).toEqual([
        "1 unknown-name: apples is not defined here.",
        "1 unknown-name: oranges is not defined here.",
        "2 unknown-name: apples is not defined here.",
      ]);
      const many = Array.from({ length: 30 }, (_, index) => `missing_${index};`).join("\n");
      expect(check(many)).toHaveLength(20);
    });

    it("needs no optional parameter", () => {
      const module = "./servers/web/index.ts";
      const greet = { ...search, module, signature: "greet(name: string, times?: number): Promise<void>" };
      const all = { ...search, module, signature: "all(first: string, ...rest: string[]): Promise<void>" };
      const imports = 'import { all, greet } from "./servers/web/index.ts";\n';
      expect(check(`${imports}greet(1);`, [all, greet])).toEqual([
        "2 wrong-arguments: greet takes string, not 1.",
      ]);
      expect(check(`${imports}all(1);`, [all, greet])).toEqual([
        "2 wrong-arguments: all takes string, not 1.",
      ]);
      expect(check(`${imports}all("a", "b", "c");`, [all, greet])).toEqual([]);
    });

    it("resolves imports of files and folders as a runtime does", () => {
      offer("declared", "export declare const price: number;", "index.d.ts");
      offer("written", "export const price = 1;");
      for (const specifier of ["declared/index.js", "declared/index.d.ts", "written/index", "written/"]) {
        const code = `import { prize } from "./servers/${specifier}";`;
        expect([specifier, own.check({ code, tools: [] })]).toMatchObject([
          specifier,
          [{ rule: "unknown-export", line: 1, column: 10 }],
        ]);
      }
    });

    it("reads nothing outside the tools' folders", () => {
      offer("shop", "export async function buy(): Promise<{ id: number }> { return { id: 1 }; }");
      writeFileSync(path.join(folder, "secret.ts"), "export const secret = 1;");
      symlinkSync(path.join(folder, "secret.ts"), path.join(folder, "servers/shop/link.ts"));
      const wanted = [
        "./servers/shop/link.ts",
        "./servers/../../secret.ts",
        path.join(folder, "secret.ts"),
        "../secret.ts",
      ];
      for (const specifier of wanted) {
        const code = `/// <reference path=${JSON.stringify(specifier)} />\nimport { sekret } from ${JSON.stringify(specifier)};\nexport default sekret;`;
        // Were the file read, the name would be unknown.
        expect(own.check({ code, tools: [] })).toEqual([]);
      }
    });

    it("sees a tool that was changed", () => {
      offer("changing", "export async function buy(): Promise<{ id: number }> { return { id: 1 }; }");
      const code = 'import { buy } from "./servers/changing/index.ts";\nexport default (await buy()).price;';
      expect(own.check({ code, tools: [] })).toMatchObject([{ line: 2, rule: "unknown-member" }]);
      offer(
        "changing",
        "export async function buy(): Promise<{ id: number; price: number }> { return { id: 1, price: 2 }; }",
      );
      expect(own.check({ code, tools: [] })).toEqual([]);
    });
  });

  describe("filesOfLastCheck", () => {
    const SOURCE = "export const price = 1;";

    it("has the hashes of the tools' files that the code imports", () => {
      offer("kept", SOURCE);
      expect(own.check({ code: 'import { price } from "./servers/kept/index.ts";', tools: [] })).toEqual([]);
      expect(own.filesOfLastCheck()).toEqual({ "/workspace/servers/kept/index.ts": hashOf(SOURCE) });
      own.check({ code: "1", tools: [] });
      expect(own.filesOfLastCheck()).toEqual({});
    });

    it("has the files that tools without a file would have", () => {
      own.check({ code: 'import { search } from "./servers/web/index.ts";', tools: [search] });
      expect(own.filesOfLastCheck()).toEqual({ "/files/servers/web/index.ts": MISSING_FILE });
    });

    it("is unknown when an import can't be resolved", () => {
      own.check({ code: 'import { price } from "./servers/none/index.ts";', tools: [] });
      expect(own.filesOfLastCheck()).toBeUndefined();
    });
  });
});
