import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Finding, ToolDefinition, TypeChecker } from "@cem/core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTypeChecker } from "./type-checker.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const WEATHER = 'import { get_forecast, get_weather, list_locations } from "./servers/weather/index.ts";\n';

/** A tool that has no file: only its signature is known. */
const search: ToolDefinition = {
  server: "web",
  name: "search",
  kind: "host",
  description: "",
  inputSchema: {},
  callStyle: "object",
  signature: "search(input: { query: string; limit?: number }): Promise<unknown>",
  module: "./servers/web/index.ts",
};

let checker: TypeChecker;

async function check(code: string, tools: readonly ToolDefinition[] = []): Promise<string[]> {
  return (await checker.check({ code, tools })).map(inWords);
}

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[$()*+.?[\\\]^{|}]/gu, String.raw`\$&`)}$`, "u");
}

function inWords({ line, rule, message }: Finding): string {
  return `${line} ${rule}: ${message}`;
}

beforeAll(() => {
  checker = createTypeChecker({
    serversDir: path.join(root, "servers"),
    skillsDir: path.join(root, "skills"),
  });
});

afterAll(() => checker.dispose());

describe("createTypeChecker", () => {
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
    ])("finds in %j what a run would fail on", async (code, finding) => {
      const [found] = await check(code);
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
    ])("lets %j pass", async (code) => {
      expect(await check(code)).toEqual([]);
    });

    it("leaves a program that can't be parsed to the run", async () => {
      expect(await check("export default {;\nget_wether(")).toEqual([]);
    });

    it("knows a tool without a file by its signature, and takes unknown results as they come", async () => {
      const imports = 'import { search } from "./servers/web/index.ts";\n';
      const good = `${imports}const { items } = await search({ query: "x" });\nfor (const item of items) item.a.b();`;
      expect(await check(good, [search])).toEqual([]);
      expect(await check(`${imports}await search({ quer: "x" });`, [search])).toEqual([
        "2 wrong-arguments: search has no parameter quer. Did you mean query? search needs query (string).",
      ]);
      expect(await check(imports.replace("search", "find"), [search])).toEqual([
        "1 unknown-export: find is not exported by servers/web. It exports search.",
      ]);
      expect(await check(imports)).toEqual([]);
    });

    it("lets a tool that takes nothing be called like the others", async () => {
      const ping = { ...search, name: "ping", signature: "ping(): Promise<unknown>" };
      const code = 'import { ping } from "./servers/web/index.ts";\nawait ping({});';
      expect(await check(code, [ping])).toEqual([]);
      expect(await check(code.replace("{}", "{ host: 1 }"), [ping])).toEqual([
        "2 wrong-arguments: ping takes 0 arguments, not 1.",
      ]);
    });

    it("knows a tool on the host that stands in one module with tools in files", async () => {
      const forecast = { ...search, server: "weather", name: "warn", module: "./servers/weather/index.ts" };
      const tool = { ...forecast, signature: "warn(input: { about: string }): Promise<unknown>" };
      // What the file says holds, where both know a tool.
      const known = { ...tool, name: "get_weather", signature: "get_weather(input: { x: 1 }): Promise<1>" };
      const imports = 'import { get_weather, warn } from "./servers/weather/index.ts";\n';
      const calls =
        'const { temperature } = await get_weather({ location: "Oslo" });\nawait warn({ about: `${temperature}` });';
      expect(await check(`${imports}${calls}`, [tool, known])).toEqual([]);
      expect(await check(`${imports}${calls.replace("about", "abut")}`, [tool, known])).toEqual([
        "3 wrong-arguments: warn has no parameter abut. Did you mean about? warn needs about (string).",
      ]);
      // Without it, it is gone again.
      expect(await check(`${imports}${calls}`)).toEqual([
        "1 unknown-export: warn is not exported by servers/weather. It exports get_forecast, get_weather, list_locations.",
      ]);
    });

    it("checks the same code against the same tools once", async () => {
      const request = { code: "export default totally_unknown;", tools: [search] };
      const first = await checker.check(request);
      expect(first).toHaveLength(1);
      expect(await checker.check({ ...request })).toBe(first);
      expect(await checker.check({ ...request, code: `${request.code}\n` })).not.toBe(first);
    });

    it("stops waiting when it is cancelled, and checks the next", async () => {
      const cancel = new AbortController();
      const code = "export default cancelled;";
      const checking = checker.check({ code, tools: [], signal: cancel.signal });
      cancel.abort(new Error("enough"));
      await expect(checking).rejects.toThrow("enough");
      await expect(checker.check({ code, tools: [], signal: cancel.signal })).rejects.toThrow("enough");
      expect(await check("export default still_good;")).toHaveLength(1);
    });
  });

  describe("with files that change or lead away", () => {
    let folder: string;
    let own: TypeChecker;

    beforeAll(async () => {
      folder = await mkdtemp(path.join(os.tmpdir(), "type-check-"));
      await mkdir(path.join(folder, "servers/shop"), { recursive: true });
      await writeFile(path.join(folder, "secret.ts"), "export const secret = 1;");
      await writeFile(
        path.join(folder, "servers/shop/index.ts"),
        "export async function buy(): Promise<{ id: number }> { return { id: 1 }; }",
      );
      await symlink(path.join(folder, "secret.ts"), path.join(folder, "servers/shop/link.ts"));
      own = createTypeChecker({ serversDir: path.join(folder, "servers") });
    });

    afterAll(async () => {
      await own.dispose();
      await rm(folder, { recursive: true, force: true });
    });

    it("reads nothing outside the tools' folders", async () => {
      const wanted = [
        "./servers/shop/link.ts",
        "./servers/../../secret.ts",
        path.join(folder, "secret.ts"),
        "../secret.ts",
      ];
      for (const specifier of wanted) {
        const code = `/// <reference path=${JSON.stringify(specifier)} />\nimport { sekret } from ${JSON.stringify(specifier)};\nexport default sekret;`;
        // Were the file read, the name would be unknown.
        expect(await own.check({ code, tools: [] })).toEqual([]);
      }
    });

    it("sees a tool that was changed", async () => {
      const code = 'import { buy } from "./servers/shop/index.ts";\nexport default (await buy()).price;';
      expect(await own.check({ code, tools: [] })).toMatchObject([{ line: 2, rule: "unknown-member" }]);
      await writeFile(
        path.join(folder, "servers/shop/index.ts"),
        "export async function buy(): Promise<{ id: number; price: number }> { return { id: 1, price: 2 }; }",
      );
      expect(await own.check({ code: `${code}\n`, tools: [] })).toEqual([]);
    });
  });

  describe("with a folder for what passed", () => {
    let folder: string;
    let serversDir: string;
    let cacheDir: string;
    const code = 'import { buy } from "./servers/shop/index.ts";\nexport default (await buy()).id;';

    beforeEach(async () => {
      folder = await mkdtemp(path.join(os.tmpdir(), "type-check-"));
      serversDir = path.join(folder, "servers");
      cacheDir = path.join(folder, "cache");
      await mkdir(path.join(serversDir, "shop"), { recursive: true });
      await offer("{ id: number }");
    });

    afterEach(() => rm(folder, { recursive: true, force: true }));

    const offer = (type: string) =>
      writeFile(
        path.join(serversDir, "shop/index.ts"),
        `export async function buy(): Promise<${type}> { return {} as ${type}; }`,
      );

    /** What a process of its own says, which has room for TypeScript or not. Without, it can only remember. */
    async function ask(program: string, memoryMb = 512, tools: readonly ToolDefinition[] = []) {
      const one = createTypeChecker({ serversDir, cacheDir, memoryMb });
      const rules = (await one.check({ code: program, tools })).map(({ rule }) => rule);
      await one.dispose();
      return rules;
    }
    const TOO_LITTLE_MB = 8;

    it("does not load TypeScript for what passed before, unless a tool has changed", async () => {
      expect(await ask(code)).toEqual([]);
      expect(await ask(code, TOO_LITTLE_MB)).toEqual([]);
      expect(await ask(code, TOO_LITTLE_MB, [{ ...search, module: "./servers/shop/index.ts" }])).toEqual([
        "not-type-checked",
      ]);
      await offer("{ key: number }");
      expect(await ask(code)).toEqual(["unknown-member"]);
    });

    it("keeps nothing that hangs on a file which is not there", async () => {
      await rm(path.join(serversDir, "shop/index.ts"));
      expect(await ask(code)).toEqual([]);
      await expect(readdir(cacheDir)).rejects.toThrow("ENOENT");
    });
  });

  describe("with code that is written to exhaust it", () => {
    /** Types that take for ever. */
    const endless = `type Grow<A extends unknown[], N> = A extends [infer H, ...infer R] ? Grow<[...R, H, [H]], N> | Grow<[...R], H> : N;
type X<N extends number, A extends unknown[] = []> = A["length"] extends N ? A : X<N, [...A, 0]>;
${Array.from({ length: 300 }, (_, i) => `const a${i}: Grow<X<${600 + i}>, ${i}> = 5;`).join("\n")}`;

    it("ends a check that takes too long, says so, and checks the next", async () => {
      const own = createTypeChecker({ timeoutMs: 3_000 });
      await own.check({ code: "1", tools: [] });
      const [finding] = await own.check({ code: endless, tools: [] });
      expect(finding).toMatchObject({ rule: "not-type-checked", severity: "warning" });
      expect(await own.check({ code: "export default missing;", tools: [] })).toHaveLength(1);
      await own.dispose();
      await expect(own.check({ code: "1", tools: [] })).rejects.toMatchObject({
        code: "TYPE_CHECKER_DISPOSED",
      });
    });

    it("lets code pass, with a warning, when there is not enough memory to check it", async () => {
      const own = createTypeChecker({ memoryMb: 24 });
      const [finding] = await own.check({ code: "export default missing;", tools: [] });
      expect(finding).toMatchObject({ rule: "not-type-checked", severity: "warning" });
      expect(finding?.message).toContain("24 MiB");
      await own.dispose();
    });

    it("survives code that is nested too deep", async () => {
      const deep = `export default ${"[".repeat(20_000)}${"]".repeat(20_000)};`;
      const findings = await check(deep);
      expect(findings.every((finding) => finding.includes("not-type-checked"))).toBe(true);
      expect(await check("export default missing_too;")).toHaveLength(1);
    });
  });
});
