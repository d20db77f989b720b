import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Finding } from "@cem/core";
import { describe, expect, it, onTestFinished } from "vitest";
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

/** A folder of tools with one server, removed after the test. */
function shop(source: string): { folder: string; module: string; own: ProgramChecker } {
  const folder = mkdtempSync(path.join(os.tmpdir(), "cem-type-check-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const module = path.join(folder, "servers/shop/index.ts");
  mkdirSync(path.dirname(module), { recursive: true });
  writeFileSync(module, source);
  return { folder, module, own: new ProgramChecker({ serversDir: path.join(folder, "servers") }) };
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

    it("reads nothing outside the tools' folders", () => {
      const { folder, own } = shop(
        "export async function buy(): Promise<{ id: number }> { return { id: 1 }; }",
      );
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
      const { module, own } = shop(
        "export async function buy(): Promise<{ id: number }> { return { id: 1 }; }",
      );
      const code = 'import { buy } from "./servers/shop/index.ts";\nexport default (await buy()).price;';
      expect(own.check({ code, tools: [] })).toMatchObject([{ line: 2, rule: "unknown-member" }]);
      writeFileSync(
        module,
        "export async function buy(): Promise<{ id: number; price: number }> { return { id: 1, price: 2 }; }",
      );
      expect(own.check({ code, tools: [] })).toEqual([]);
    });
  });
});
