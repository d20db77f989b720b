import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Finding } from "@cem/core";
import { afterAll, describe, expect, it } from "vitest";
import { findCompiler } from "./compiler/compiler-process.ts";
import { createGuestFiles } from "./compiler/guest-files.ts";
import type { ToolFolders } from "./compiler/guest-files.ts";
import { startNativeCompiler, type NativeCompiler } from "./compiler/native-compiler.ts";
// oxlint-disable-next-line import/no-unassigned-import -- loaded when first needed; here already, so that no test waits
import "./findings/explain.ts";
import { createProgramChecker, type CheckedTool } from "./program-checker.ts";

const root = path.resolve(import.meta.dirname, "../../..");
const WEATHER = 'import { get_forecast, get_weather, list_locations } from "./servers/weather/index.ts";\n';

const ADD = 'import { add } from "./servers/calculator/index.ts";\n';

/** A tool without a file: only its signature is known. */
const search: CheckedTool = {
  isInFile: false,
  signature: "search(input: { query: string; limit?: number }): Promise<unknown>",
  module: "./servers/web/index.ts",
};

const compilers: NativeCompiler[] = [];
afterAll(() => Promise.all(compilers.map((compiler) => compiler.process.dispose())));

function open(folders: ToolFolders): ReturnType<typeof createProgramChecker> {
  const found = findCompiler();
  if ("missing" in found) throw new Error(found.missing);
  const files = createGuestFiles(folders);
  const compiler = startNativeCompiler(found, files, 512);
  compilers.push(compiler);
  return createProgramChecker(compiler, files);
}

const checker = open({
  serversDir: path.join(root, "servers"),
  skillsDir: path.join(root, "skills"),
});

async function check(code: string, tools: readonly CheckedTool[] = []): Promise<string[]> {
  return (await checker.check({ code, tools })).map(inWords);
}

function inWords({ line, rule, message }: Finding): string {
  return `${line} ${rule}: ${message}`;
}

/** A folder of its own for tools that change or lead away. */
const folder = mkdtempSync(path.join(os.tmpdir(), "cem-type-check-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const own = open({ serversDir: path.join(folder, "servers") });

/** Writes a file of a server in that folder. */
function offer(server: string, source: string, name = "index.ts"): void {
  mkdirSync(path.join(folder, "servers", server), { recursive: true });
  writeFileSync(path.join(folder, "servers", server, name), source);
}

describe("ProgramChecker", () => {
  describe("check", () => {
    it("names the property and the type of a value of another type", async () => {
      const rows = 'const row: { id: number; n: string } = JSON.parse("{}");\n';
      expect(await check(`${WEATHER}${rows}await get_weather({ location: row.id });`)).toEqual([
        "3 wrong-arguments: get_weather.location: Type 'number' is not assignable to type 'string'.",
      ]);
      expect(await check(`${ADD}${rows}const a = row.n;\nawait add({ a, b: 1 });`)).toEqual([
        "4 wrong-arguments: add: Type 'string' is not assignable to type 'number'.",
      ]);
    });

    it("says where a text of a tool stands for a number, or is compared with what it never is, and lets the code run", async () => {
      offer(
        "shop",
        `interface Order { id: number; total: string; paid?: string; unit: string; status: "open" | "sent" }
export declare function list(): Promise<Order[]>;
export declare function pay(input: { id: number; ids?: number[] }): Promise<void>;`,
      );
      const warnings = async (code: string): Promise<string[]> => {
        const intro = 'import { list, pay } from "./servers/shop/index.ts";\nconst orders = await list();\n';
        const findings = await own.check({ code: intro + code, tools: [] });
        expect(findings.filter(({ severity }) => severity !== "warning")).toEqual([]);
        return findings.map(({ line, message }) => `${line} ${message}`);
      };
      for (const [code, text] of [
        ["let sum = 0;\nfor (const order of orders) sum += order.total;", "order.total"],
        ["const s = { n: 0 };\norders.forEach((one) => (s.n = s.n + one.paid));", "one.paid"],
        ["export default\norders.reduce((sum, order) => sum + order.total, 0);", "order.total"],
        ["const vat = (n: number) => n + 0.19;\nvat(orders[0].total);", "orders[0].total"],
      ] as const)
        expect(await warnings(code)).toEqual([`4 ${text} is a text: write Number(${text}).`]);
      const never = `3 This comparison appears to be unintentional because the types '"open" | "sent"' and '"Open"' have no overlap.`;
      expect(await warnings('orders.filter(({ status }) => status === "Open");')).toEqual([never]);
      expect(await warnings('switch (orders[0].status) { case "Open": }')).toEqual([
        `3 Type '"Open"' is not comparable to type '"open" | "sent"'.`,
      ]);
      const fine = `let label = "";
for (const { id, ...order } of orders) label += id + order.unit + order.total;
const late = () => { mode = "b"; };
let mode: "a" | "b" = "a";
late();
if (mode === "b") late();
await pay({ id: 7205759403792793601n, ids: [1n] });
try { await list(); } catch (error) { if (error instanceof ToolError) console.log(error.code, error.tool.length); }`;
      expect(await warnings(fine)).toEqual([]);
      expect(
        await own.check({ code: "const text: string = JSON.parse('');\ntext.toFixed(2);", tools: [] }),
      ).toEqual([
        expect.objectContaining({
          message: expect.stringMatching(/'toFixed' .*'string'\.$/u) as string,
        }),
      ]);
    });

    it("suspects a member that the program's own object does not have, and lets the code run", async () => {
      const parse = `const commits = "a|b".split("\\n").map((line) => {
  const [hash, author, timestamp, subject] = line.split("|");
  return { hash, author, timestamp, subject };
});
`;
      const findings = await checker.check({
        code: `${parse}export default commits.map((c) => ({ when: c.date, by: c.authr }));`,
        tools: [],
      });
      expect(findings).toMatchObject([
        {
          rule: "unknown-member",
          severity: "warning",
          line: 5,
          message:
            "Property 'date' does not exist on type '{ hash: string; author: string; timestamp: string; subject: string; }'.",
        },
        { severity: "warning", message: expect.stringMatching(/'authr' .* Did you mean 'author'\?/u) },
      ]);
      expect(await check(`${parse}for (const { date } of commits) console.log(date);`)).toHaveLength(1);
    });

    it.each([
      `${WEATHER}let found = await list_locations();\nfound = found.length;\nconsole.log(found.toFixed(1));`,
      `${WEATHER}let now = get_weather({ location: "Oslo" });\nnow = await now;\nconsole.log(now.temperature);`,
    ])("only suspects what follows from a variable that holds another type later on: %j", async (code) => {
      const findings = await checker.check({ code, tools: [] });
      expect(findings.map(({ severity }) => severity)).not.toContain("error");
    });

    it.each([
      "const found: Record<string, number> = {};\nconsole.log(found.x);",
      "const found: { a?: number } = {};\nfound.b = 1;\nconsole.log(found.b);",
      "const made = {};\nconsole.log(made.x);",
      "const either = Math.random() > 0.5 ? { a: 1 } : { b: 2 };\nconsole.log(either.a);",
      "const given: { id: number }[] = JSON.parse('[]');\nconsole.log(given[0].name);",
      "const { x = 1 } = { y: 2 };\nconsole.log(x);",
      "try { throw 1; } catch (error) { console.log(error.code); }",
    ])("does not suspect %j", async (code) => {
      expect(await check(code)).toEqual([]);
    });

    it.each([
      [
        'import { get_wether } from "./servers/weather/index.ts";',
        "1 unknown-export: '\"./servers/weather/index.ts\"' has no exported member named 'get_wether'. Did you mean 'get_weather'?",
      ],
      [
        'import { double_numbr } from "/workspace/skills/double_number/index.ts";',
        "1 unknown-export: '\"/workspace/skills/double_number/index.ts\"' has no exported member named 'double_numbr'. Did you mean 'double_number'?",
      ],
      [
        `${WEATHER}await get_weather({ city: "Oslo" });`,
        '2 wrong-arguments: get_weather: Object literal may only specify known properties, and \'city\' does not exist in type \'GetWeatherInput\'. It takes { location: string; month?: "April" | "August" | "December" | "February" | "January" | "July" | "June" | "March" | "May" | "November" | "October" | "September" ….',
      ],
      [
        `${WEATHER}await get_weather({ locaton: "Oslo" });`,
        "2 wrong-arguments: get_weather: Object literal may only specify known properties, but 'locaton' does not exist in type 'GetWeatherInput'. Did you mean to write 'location'?",
      ],
      [
        `${WEATHER}\nawait get_forecast({ location: "Oslo", days: "3" });`,
        "3 wrong-arguments: get_forecast.days: Type 'string' is not assignable to type 'number'.",
      ],
      [
        `${WEATHER}await get_weather({ location: "Oslo" }, 1);`,
        '2 wrong-arguments: get_weather: Expected 1 arguments, but got 2. It takes { location: string; month?: "April" | "August" | "December" | "February" | "January" | "July" | "June" | "March" | "May" | "November" | "October" | "September" ….',
      ],
      [
        `${WEATHER}await get_weather();`,
        '2 wrong-arguments: get_weather: Expected 1 arguments, but got 0. An argument for \'input\' was not provided. It takes { location: string; month?: "April" | "August" | "December" | "February" | "January" | "July" | "June" | "March" | "May" | "November" | "October" | "September" ….',
      ],
      [
        `${WEATHER}await get_weather({ location: "Oslo", month: "Juli" });`,
        '2 wrong-arguments: get_weather.month: Type \'"Juli"\' is not assignable to type \'Month | undefined\'. It takes "April" | "August" | "December" | "February" | "January" | "July" | "June" | "March" | "May" | "November" | "October" | "September".',
      ],
      [
        `${WEATHER}await Promise.all(["Oslo"].map(get_weather));`,
        "2 wrong-arguments: Argument of type '(input: GetWeatherInput) => Promise<Weather>' is not assignable to parameter of type '(value: string, index: number, array: string[]) => Promise<Weather>'. Types of parameters 'input' and 'value' are incompatible. Type 'string' is not assignable to type 'GetWeatherInput'. Write (item) => get_weather(…).",
      ],
      [
        `${WEATHER}const weather = get_weather({ location: "Oslo" });\nexport default weather.temperature;`,
        "3 missing-await: weather is a Promise: write (await weather).temperature.",
      ],
      [
        `${WEATHER}const weather = await get_weather({ location: "Oslo" });\nexport default weather.temprature;`,
        "3 unknown-member: Property 'temprature' does not exist on type 'Weather'. Did you mean 'temperature'?",
      ],
      [
        `${WEATHER}const weather = await get_weather({ location: "Oslo" });\nawait weather.page(0, 9);\nfor (const one of weather.items("days")) weather.pages(0);`,
        "4 unknown-member: Property 'pages' does not exist on type 'Weather'. The type has location, country, month, temperature, unit, condition, precipitation_mm, kind, source.",
      ],
      [
        `${WEATHER}const { degrees } = await get_weather({ location: "Oslo" });`,
        `2 unknown-member: Property 'degrees' does not exist on type 'Weather'. The type has location, country, month, temperature, unit, condition, precipitation_mm, kind, source. If the result has it all the same, read it as result["degrees"].`,
      ],
      [
        `${WEATHER}const days = await get_forecast({ location: "Oslo" });\nexport default days.temperature;`,
        "3 unknown-member: Property 'temperature' does not exist on type 'ForecastDay[]'.",
      ],
      [
        `${WEATHER}await get_weather("Oslo");`,
        '2 wrong-arguments: get_weather: Argument of type \'string\' is not assignable to parameter of type \'GetWeatherInput\'. It takes { location: string; month?: "April" | "August" | "December" | "February" | "January" | "July" | "June" | "March" | "May" | "November" | "October" | "September" ….',
      ],
      [
        `${WEATHER}await get_weather(["Oslo"]);`,
        '2 wrong-arguments: get_weather: Property \'location\' is missing in type \'string[]\' but required in type \'GetWeatherInput\'. It takes { location: string; month?: "April" | "August" | "December" | "February" | "January" | "July" | "June" | "March" | "May" | "November" | "October" | "September" ….',
      ],
      [
        "const total = 5;\nexport default totl;",
        "2 unknown-name: Cannot find name 'totl'. Did you mean 'total'?",
      ],
      [
        `${WEATHER}await get_wether({ location: "Oslo" });`,
        "2 unknown-name: Cannot find name 'get_wether'. Did you mean 'get_weather'?",
      ],
      ["{ const total = 1; }\nexport default totl;", "2 unknown-name: Cannot find name 'totl'."],
      [
        `${WEATHER}const weather = await get_weather({ location: "Oslo" });\nexport default weather.temprature === 5;`,
        "3 unknown-member: Property 'temprature' does not exist on type 'Weather'. Did you mean 'temperature'?",
      ],
      [
        `${WEATHER}for (const { degrees } of await get_forecast({ location: "Oslo" })) console.log(degrees);`,
        `2 unknown-member: Property 'degrees' does not exist on type 'ForecastDay'. The type has date, location, temperature, unit, condition, kind. If the result has it all the same, read it as result["degrees"].`,
      ],
      [
        `${WEATHER}(await list_locations()).map(({ cuontry }) => cuontry);`,
        `2 unknown-member: Property 'cuontry' does not exist on type 'Location'. The type has name, country. If the result has it all the same, read it as result["cuontry"].`,
      ],
      [
        `${WEATHER}const at = { note: 1 };\nawait get_weather(at);`,
        '3 wrong-arguments: get_weather: Property \'location\' is missing in type \'{ note: number; }\' but required in type \'GetWeatherInput\'. It takes { location: string; month?: "April" | "August" | "December" | "February" | "January" | "July" | "June" | "March" | "May" | "November" | "October" | "September" ….',
      ],
      [
        `${WEATHER}await get_weather({ location: new Date() });`,
        "2 wrong-arguments: get_weather.location: Type 'Date' is not assignable to type 'string'.",
      ],
      ['const text = "a";\ntext.size;', "2 unknown-member: Property 'size' does not exist on type '\"a\"'."],
      ["const n = 5;\nn.lenght;", "2 unknown-member: Property 'lenght' does not exist on type '5'."],
      ["const yes = true;\nyes.not();", "2 unknown-member: Property 'not' does not exist on type 'true'."],
      ["new Date().format();", "1 unknown-member: Property 'format' does not exist on type 'Date'."],
      [
        'import weather from "./servers/weather/index.ts";\nweather;',
        "1 unknown-export: Module '\"/workspace/servers/weather/index\"' has no default export. It exports get_forecast, get_weather, list_locations.",
      ],
      [
        'export { get_wether as get } from "./servers/weather/index.ts";',
        "1 unknown-export: '\"./servers/weather/index.ts\"' has no exported member named 'get_wether'. Did you mean 'get_weather'?",
      ],
      [
        'import { get_wether as get } from "./servers/weather/index.ts";\nget;',
        "1 unknown-export: '\"./servers/weather/index.ts\"' has no exported member named 'get_wether'. Did you mean 'get_weather'?",
      ],
      [
        'import { get_wether } from "servers/weather";\nget_wether();',
        "1 unknown-export: '\"servers/weather\"' has no exported member named 'get_wether'. Did you mean 'get_weather'?",
      ],
      // Browsers have it in workers, and guests do not.
      ["new XMLHttpRequest();", "1 unknown-name: Cannot find name 'XMLHttpRequest'."],
      [
        "f(__dirname);\nfunction f(x) {}",
        "1 unknown-name: Cannot find name '__dirname'. Write import.meta.dirname.",
      ],
      [
        "export default __filename;",
        "1 unknown-name: Cannot find name '__filename'. Write import.meta.filename.",
      ],
      ...["require.resolve('./a.ts')", "['fs'].map((name) => require(name))"].map(
        (code): [string, string] => [
          code,
          `1 unknown-name: Cannot find name 'require'. Write import … from "name", or await import(name).`,
        ],
      ),
      ["fs.readFileSync('x');", `1 unknown-name: Cannot find name 'fs'. Write import fs from "node:fs".`],
      ["print('x');", "1 unknown-name: Cannot find name 'print'. Write console.log(…)."],
      ["export default [None];", "1 unknown-name: Cannot find name 'None'. Write null."],
      [
        "await axios.get('http://x');",
        "1 unknown-name: Cannot find name 'axios'. There are no packages here: use what JavaScript itself and the node: modules have.",
      ],
      // Test runners have it as a global.
      ["describe('a', () => {});", "1 unknown-name: Cannot find name 'describe'."],
      ["class A extends Missing {}", "1 unknown-name: Cannot find name 'Missing'."],
      ["const A = class extends Missing {};", "1 unknown-name: Cannot find name 'Missing'."],
      [
        `${WEATHER.replace("./", "file:///workspace/")}await get_weather({});`,
        '2 wrong-arguments: get_weather: Property \'location\' is missing in type \'{}\' but required in type \'GetWeatherInput\'. It takes { location: string; month?: "April" | "August" | "December" | "February" | "January" | "July" | "June" | "March" | "May" | "November" | "October" | "September" ….',
      ],
      [
        `${WEATHER}const weather = await get_weather({ location: "Oslo" });\nconst o = {};\no.x = weather.temprature;`,
        "4 unknown-member: Property 'temprature' does not exist on type 'Weather'. Did you mean 'temperature'?",
      ],
      ["new Date().years;", "1 unknown-member: Property 'years' does not exist on type 'Date'."],
      ["[1].size;", "1 unknown-member: Property 'size' does not exist on type 'number[]'."],
      [
        "new Map([[1, 2]]).length;",
        "1 unknown-member: Property 'length' does not exist on type 'Map<number, number>'.",
      ],
      ["new Set([1]).length;", "1 unknown-member: Property 'length' does not exist on type 'Set<number>'."],
      [
        "const list: readonly string[] = [];\nlist.size;",
        "2 unknown-member: Property 'size' does not exist on type 'readonly string[]'.",
      ],
      [
        "Promise.resolve(1).status;",
        "1 missing-await: Promise.resolve(1) is a Promise: write (await Promise.resolve(1)).status.",
      ],
      [
        `${WEATHER}get_weather.now;`,
        "2 unknown-member: Property 'now' does not exist on type '(input: GetWeatherInput) => Promise<Weather>'.",
      ],
      [
        "const user = { name: 'Ada' };\nuser();",
        "2 not-callable: user: This expression is not callable. Type '{ name: string; }' has no call signatures.",
      ],
      [
        "const limit = 1;\nlimit = 2;",
        "2 constant-assigned: Cannot assign to 'limit' because it is a constant.",
      ],
    ])("finds in %j what a run would fail on", async (code, finding) => {
      const [found] = await check(code);
      expect(found).toBe(finding);
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
      [
        `${WEATHER}let places = (await list_locations()).map((name) => ({ name }));\nplaces = places.map((one) => ({ ...one, size: 1 }));\nexport default places[0].size;`,
      ],
      // Objects that grow, and variables that hold something else later on.
      [`${WEATHER}const at = {};\nat.location = "Oslo";\nexport default await get_weather(at);`],
      [`${WEATHER}const at = {};\nat["location"] = "Oslo";\nexport default await get_weather({ ...at });`],
      [
        `${WEATHER}const now = await get_weather({ location: "Oslo" });\nnow["felt"] = 1;\nexport default now.felt;`,
      ],
      [
        `${WEATHER}const now = await get_weather({ location: "Oslo" });\nfor (const key of ["a"]) now[key] = 1;\nexport default now.a;`,
      ],
      [
        `${WEATHER}const now = await get_weather({ location: "Oslo" });\nObject.assign(now, { felt: 1 });\nexport default now.felt;`,
      ],
      // Written as JavaScript.
      ["const out = {};\nout.sum = 3;\nout['x'] = out.sum;\nexport default out;"],
      [
        "const list = [];\nlist.push({ n: 1 });\nlet best = null;\nfor (const one of list) if (!best || one.n > best.n) best = one;\nexport default best.n;",
      ],
      [
        "let x = 5;\nx = 'five';\nfunction f(a, b) { return a + (b ?? 0); }\nexport default [x, f(1), f(1, 2, 3), parseInt(5.5)];",
      ],
      ["try { throw new Error('x'); } catch (e) { console.log(e.code, e instanceof Error && e.status); }"],
      ["const r = await new Promise((resolve) => setTimeout(() => resolve(5), 1));\nexport default r + 1;"],
      [
        "let t: ReturnType<typeof setTimeout>, n: number = setInterval(() => {}, 1);\nt = setTimeout(() => {}, 5, 'a').unref();\nclearTimeout(t);\nclearInterval(n);",
      ],
      ["const m = new Map();\nm.get('a').b;\n[1, 2].find((n) => n > 1).toFixed(2);\nJSON.parse('{}').a.b;"],
      ["const key: unknown = JSON.parse('{}');\nexport default key.a.b();"],
      ["if (typeof Shiny !== 'undefined') Shiny.polish();"],
      ["class V { x = 1; clone() { return new this.constructor(); } }\nexport default new V().clone();"],
      // Declared late, over several files of TypeScript's library, one of which is a module.
      [
        "const odd = new Set([1]).union(new Set([2])).values().filter((n) => n % 2 === 1);\nexport default [odd instanceof Iterator, [...odd].toSorted(), await Promise.try(() => 'a'.isWellFormed())];",
      ],
      ["new URL('http://x').port_number; new URL('http://x').refresh?.();"],
      [
        "const made = new ImageBitmap(1, 1), points = [new DOMPoint(1, 2), GPUDevice];\nif (typeof Notification !== 'undefined') new Notification('x');\nexport default [made, points, await navigator.storage.getDirectory(), crypto.subtle, URLPattern];",
      ],
      ["const v: { a: 1 } | { b: 2 } = JSON.parse('{}');\nv.a;"],
      [
        "class A implements Missing {}\ninterface B extends Missing {}\nconst C = class implements Missing {};",
      ],
      ["let a: Missing.Type, b: typeof import('x').y, c: Array<Missing>;"],
      ["class Promise { x = 1; }\nnew Promise().y;"],
      [`${ADD}const v = [1].find(Boolean);\nawait add({ a: v, b: null });`],
      ["const f = Date.now() > 0 ? () => 1 : 5;\nf();"],
      [`${WEATHER}function run(o: { call: (x: string) => void }) {}\nrun({ call: get_weather });`],
      ["if (typeof Bun !== 'undefined') Bun.gc();\nconst x: Missing<string> = 1 as any;\nexport default x;"],
      ["export default typeof __dirname === 'string' ? __dirname : import.meta.dirname;"],
      ["if (!module.parent) f(require('fs'), require.main === module);\nfunction f(...x) {}"],
      ["globalThis.cache = { n: 1 };\nwindow['total'] = 2;\nexport default cache.n + total;"],
      [
        "class A extends Error { constructor() { super(); if (Error.captureStackTrace) Error.captureStackTrace(this, A); } }\nError.stackTraceLimit = 5;\nexport default [...Iterator.concat([new A()]), ReadableStream.from([1]), new Date().getYear()];",
      ],
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

    describe("a top-level return", () => {
      const imports = 'import { greet, load, pick } from "./servers/web/index.ts";\n';
      const tools = [
        "greet(input: { name: string }): Promise<string>",
        'load(): Promise<{ type: "a"; a: number } | { type: "b"; b: string }>',
        "pick(input: { n: number }): Promise<number>",
      ].map((signature) => ({ ...search, signature }));

      it("is checked like everything else", async () => {
        const code = `${imports}return await greet({ nme: 1 });`;
        const [found] = await checker.check({ code, tools });
        expect(found).toEqual({
          rule: "wrong-arguments",
          severity: "error",
          line: 2,
          column: 22,
          message:
            "greet: Object literal may only specify known properties, but 'nme' does not exist in type '{ name: string; }'. Did you mean to write 'name'?",
        });
        expect(await check(`${imports}return await greet({ name: "Ada" });`, tools)).toEqual([]);
      });

      it.each([
        "if (Date.now() > 0) return greet({ name: 1 });",
        "if (Date.now() > 0) {} else { return greet({ name: 1 }) }",
        "for (const x of [1]) { return greet({ name: x }); }",
        "while (true) return greet({ name: 1 });",
        "try { return await greet({ name: 1 }); } catch { return 2; }",
        "try { throw 1; } catch { return await greet({ name: 1 }); } finally { greet({ name: 'x' }); }",
        "switch (Date.now()) { case 1: return greet({ name: 1 }); default: return; }",
        "return Promise.all([1].map((name) => { return greet({ name }); }));",
        "return { a: { b: async () => greet({ name: 1 }) } };",
        "return `Say: ${await greet({ name: 1 })}`;",
        "return\ngreet({ name: 1 });",
        "return;\nfunction f() { return greet({ name: 1 }); }",
      ])("is checked in %j", async (code) => {
        const found = await check(`${imports}${code}`, tools);
        expect(found).toHaveLength(1);
        expect(found[0]).toMatch(
          /wrong-arguments: greet(?:\.name)?: Type 'number' is not assignable to type 'string'\.$/u,
        );
      });

      it.each([
        ["if (r.type === 'a') return r.a;", "r.bb", '{ type: "b"; b: string; }'],
        ["if (r.type === 'a') return;", "r.bb", '{ type: "b"; b: string; }'],
        ["if (r.type === 'a') return\n", "(r).bb", '{ type: "b"; b: string; }'],
        ["if (r.type !== 'a') { console.log(1); return }", "r.bb", '{ type: "a"; a: number; }'],
        ["switch (r.type) { case 'a': return 1; }", "r.bb", '{ type: "b"; b: string; }'],
        ["try { if (r.type === 'a') return 1; } finally {}", "r.bb", '{ type: "b"; b: string; }'],
      ])("ends what %j knows", async (code, read, type) => {
        const found = await check(`${imports}const r = await load();\n${code}\n${read};`, tools);
        expect(found).toHaveLength(1);
        expect(found[0]).toContain(`Property 'bb' does not exist on type '${type}'.`);
      });

      it("is not taken for one case of a union where nothing tells which it is", async () => {
        expect(await check(`${imports}const r = await load();\nreturn [r.a, r.b];`, tools)).toEqual([]);
      });

      it.each([
        "if (typeof v === 'string') return v.length;",
        "if (typeof v === 'string') return;",
        "if (typeof v === 'string') return\n",
        "if (typeof v === 'string') return // text\n",
        "if (typeof v === 'string') { return } else { console.log(v.toFixed()) }",
        "for (;;) { if (typeof v === 'string') return; else break; }",
      ])("lets what follows %j pass, which is right", async (code) => {
        const value = "const v: string | number = JSON.parse('1');";
        const next = "[await pick({ n: v }), v.toFixed()].map(String);";
        expect(await check(`${imports}${value}\n${code}\n${next}`, tools)).toEqual([]);
      });
    });

    it.each([
      'for (const day of await get_weather({ location: "Oslo" })) console.log(day);',
      'const [first] = await get_weather({ location: "Oslo" });',
      'console.log([...(await get_weather({ location: "Oslo" }))]);',
    ])("finds a value that is no list in %j", async (code) => {
      const [found] = await check(WEATHER + code);
      expect(found).toMatch(/^2 not-a-list: .* is not a list\. .* The type has location, country, month, /u);
    });

    it.each([
      'import { type Nope } from "./servers/weather/index.ts";',
      'import type { Nope } from "./servers/weather/index.ts";',
      'import type Nope from "./servers/weather/index.ts";',
      "for (const [key, value] of Object.entries({ a: 1 })) console.log(key, value);",
      'for (const letter of "abc") console.log(letter);',
      "const list: unknown = JSON.parse('[]');\nfor (const one of list) console.log(one);",
    ])("lets types and lists pass in %j", async (code) => {
      expect(await check(code)).toEqual([]);
    });

    it.each([
      "return (r.country ?? r.items ?? []).length;",
      "return r.country || r.items || r.data || [];",
      "return r.content?.[0]?.text;",
      "const all = r.structuredContent ?? r;\nreturn all.country;",
      "if (r.error) throw new Error(r.error.message);",
      "if (!r || r.success === false) return 1;",
      "if (r.isError) { throw new Error(r.content[0].text); }",
      "while (r && typeof r.next === 'string') return 1;",
      "return r?.email;",
      "return r.json ? await r.json() : r;",
      "return Array.isArray(r.rows) ? r.rows : (Date.now() > 0 && r.done) || [];",
    ])("lets a read pass that allows for a missing member, with a note, in %j", async (code) => {
      const all = `${WEATHER}const r = await get_weather({ location: "Oslo" });\n${code}`;
      const found = await checker.check({ code: all, tools: [] });
      const message = expect.stringMatching(
        /does not exist on type 'Weather'\. The type has location,[^."]*\.$/u,
      );
      expect(found.length).toBeGreaterThan(0);
      for (const finding of found)
        expect(finding).toMatchObject({ rule: "unknown-member", severity: "warning", message });
    });

    it.each([
      ["return `${r.month} ${r.currency}`;", 'If the result has it all the same, read it as r["currency"].'],
      ["return r.temprature ?? 0;", "Did you mean 'temperature'?"],
      ["if (r.degrees > 5) return 1;", 'read it as r["degrees"].'],
      ["if (r.month) return r.degrees;", 'read it as r["degrees"].'],
      ["return r.degrees === 5;", 'read it as r["degrees"].'],
      ["if (!new Map().length) return 1;", "does not exist on type 'Map<any, any>'."],
      ["return [r].size || 0;", "does not exist on type 'Weather[]'."],
      ["return r.location.items ?? [];", "does not exist on type 'string'."],
    ])("refuses a plain read of a missing member in %j", async (code, end) => {
      const [found, ...others] = await check(
        `${WEATHER}const r = await get_weather({ location: "Oslo" });\n${code}`,
      );
      expect(found?.endsWith(end)).toBe(true);
      expect(others).toEqual([]);
    });

    it("finds every error where asked, except types that are left out", async () => {
      const code = `import { readFile } from "node:fs/promises";
import type { City } from "./servers/nowhere/index.ts";
export const triple = (x: number): string => 3 * x;
export function read(name, city?: City) { return readFile(name, "utf8"); }
export const first = (list?: string[]): string => list[0];
${ADD}export const sum = () => add({ a: "1", b: 2 });
import { search } from "./servers/web/index.ts";
const found = await search({ query: "a" });
export const title: string = found.items[0].title;
export const text: string = found;`;
      const rulesOf = async (strict: boolean): Promise<string[]> =>
        (await checker.check({ code, tools: [search], strict }))
          .map(({ line, rule }) => `${line} ${rule}`)
          .toSorted();
      expect(await rulesOf(false)).toEqual(["7 wrong-arguments"]);
      expect(await rulesOf(true)).toEqual([
        "2 type-error",
        "3 type-error",
        "5 type-error",
        "7 wrong-arguments",
      ]);
    });

    it("leaves a syntax error to the run", async () => {
      expect(await check("export default {;\nget_wether(")).toEqual([]);
    });

    it("knows a tool without a file by its signature, and allows anything on unknown results", async () => {
      const imports = 'import { search } from "./servers/web/index.ts";\n';
      const good = `${imports}const { items } = await search({ query: "x" });\nfor (const item of items) item.a.b();`;
      expect(await check(good, [search])).toEqual([]);
      expect(await check(`${imports}await search({ quer: "x" });`, [search])).toEqual([
        expect.stringMatching(/^2 wrong-arguments: search: .*'quer' .* Did you mean to write 'query'\?$/u),
      ]);
      expect(await check(imports.replace("search", "find"), [search])).toEqual([
        "1 unknown-export: Module '\"./servers/web/index.ts\"' has no exported member 'find'. It exports search.",
      ]);
      const many = Array.from({ length: 15 }, (_, at) => {
        const name = `tool_${at}`;
        return { ...search, name, signature: search.signature?.replace("search", name) };
      });
      expect(await check(imports.replace("search", "find"), many)).toEqual([
        expect.stringMatching(/ It exports (?:tool_\d+(?:, )?){12} and 3 more\.$/u),
      ]);
      expect(await check(imports)).toEqual([]);
    });

    it("suggests each name that differs in its style only", async () => {
      const tools = ["get_user", "Get_User"].map((name) => ({
        ...search,
        signature: `${name}(): Promise<void>`,
      }));
      const [found] = await check('import { getUser } from "./servers/web/index.ts";', tools);
      expect(found).toContain("'Get_User'?");
      expect(found).toContain("'get_user'?");
    });

    it("does not suggest a name that is imported in vain", async () => {
      const code = 'import { serch } from "./servers/web/index.ts";\nawait search({ query: "x" });';
      expect(await check(code, [search])).toEqual([
        expect.stringMatching(/^1 unknown-export: .*'serch'. Did you mean 'search'\?$/u),
        expect.stringMatching(/^2 unknown-name: Cannot find name 'search'\./u),
      ]);
    });

    it("says that a member may be null, and that an object is parsed already", async () => {
      offer(
        "nulls",
        "export function find(input: { a: string | null; b?: number; c?: unknown }): Promise<{ n: number }>;",
      );
      const importing = 'import { find } from "./servers/nulls/index.ts";\n';
      const found = async (code: string) =>
        (await own.check({ code: importing + code, tools: [] })).map(inWords);
      expect(await found("await find({});")).toEqual([
        expect.stringContaining("It takes { a: string | null; b?: number; c?: unknown }."),
      ]);
      expect(await found("const r = await find({ a: null });\nconsole.log(JSON.parse(r).n);")).toEqual([
        "3 wrong-arguments: r is an object already: use it as it is, without JSON.parse.",
      ]);
    });

    it("lets a tool be given what is not fully known", async () => {
      const module = "./servers/web/index.ts";
      const put = {
        ...search,
        module,
        signature: "put(input: { a: number; b: { c: string[] } }): Promise<unknown>",
      };
      const imports = 'import { put } from "./servers/web/index.ts";\nconst u: unknown = JSON.parse("1");\n';
      const right = [
        "await put({ a: u, b: { c: [u] } });",
        "await put({ a: 1, b: u });",
        "const r = await put(u);\nawait put(r);\nconst { x } = r;\nawait put({ a: x, b: { c: [r] } });",
        "const o: { c: unknown[] } = { c: [] };\nawait put({ a: 1, b: o });",
        "if (u instanceof Object) u.anything();",
      ];
      for (const code of right) expect([code, await check(imports + code, [put])]).toEqual([code, []]);
      expect(await check(`${imports}await put({ a: "1", b: { c: [u] } });`, [put])).toEqual([
        "3 wrong-arguments: put.a: Type 'string' is not assignable to type 'number'.",
      ]);
      expect(await check(`${imports}await put({ a: u, b: { c: [5] } });`, [put])).toEqual([
        "3 wrong-arguments: put.b.c: Type 'number' is not assignable to type 'string'.",
      ]);
    });

    describe("an argument that could fit", () => {
      const tools = [
        "rows(): Promise<Record<string, string | number | null>[]>",
        'find(input: { city: string; unit?: "c" | "f"; tags?: string[]; at?: { lat: number }; all?: { id: string }[] }): Promise<string>',
      ].map((signature) => ({ ...search, signature }));
      const imports =
        'import { find, rows } from "./servers/web/index.ts";\nconst [row] = await rows();\nconst list = await rows();\n';
      it.each([
        "await find({ city: row.city });",
        "await find({ city: row?.city ?? null });",
        "await find({ city: 'x', tags: list.map((one) => one.tag) });",
        "await find({ city: 'x', all: list.map((one) => ({ id: one.id })) });",
        "await find({ city: 'x', all: list });",
        "await find({ city: 'x', at: { lat: row.lat } });",
        "const unit = JSON.stringify(1);\nawait find({ city: 'x', unit });",
        "let unit = 'c';\nawait find({ city: 'x', unit });",
        "enum Unit { C = 'c' }\nawait find({ city: 'x', unit: Unit.C });",
        "await find(row);",
        "await find({ ...row });",
        "if (typeof row.city !== 'number') await find({ city: row.city });",
      ])("passes in %j", async (code) => {
        expect(await check(imports + code, tools)).toEqual([]);
      });

      it.each([
        [
          "await find({ city: row.n as number });",
          "find.city: Type 'number' is not assignable to type 'string'.",
        ],
        [
          "await find({ city: 'x', unit: 'k' });",
          'find.unit: Type \'"k"\' is not assignable to type \'"c" | "f" | undefined\'. It takes "c" | "f".',
        ],
        [
          "await find({ city: 'x', tags: [1] });",
          "find.tags: Type 'number' is not assignable to type 'string'.",
        ],
        [
          "await find({ city: 'x', at: { lng: 1 } });",
          "find.at: Object literal may only specify known properties, and 'lng' does not exist in type '{ lat: number; }'. It takes { lat: number }.",
        ],
        [
          "await find({ city: 'x', tags: row.tags });",
          "find.tags: Type 'string | number | null' is not assignable to type 'string[] | undefined'. Type 'null' is not assignable to type 'string[] | undefined'. It takes string[].",
        ],
        [
          "await find({ city: 'x', all: [{ id: 5 }] });",
          "find.all.id: Type 'number' is not assignable to type 'string'.",
        ],
      ])("is not one in %j", async (code, message) => {
        const [found] = await check(imports + code, tools);
        expect(found).toContain(`4 wrong-arguments: ${message}`);
      });
    });

    it("describes what a tool takes: nothing, lists, functions", async () => {
      const tools = [
        "none(input: {}): Promise<void>",
        "sum(list: number[]): Promise<number>",
        "each(visit: (n: number) => void): Promise<void>",
        `wide(input: { ${Array.from({ length: 30 }, (_, index) => `name_${index}: string`).join("; ")} }): Promise<void>`,
      ].map((signature) => ({ ...search, signature }));
      const imports = 'import { each, none, sum, wide } from "./servers/web/index.ts";\n';
      const found = await check(`${imports}none();\nsum("1");\neach(5);\nwide(6);`, tools);
      expect(found).toEqual([
        expect.stringMatching(
          /^2 wrong-arguments: none: Expected 1 arguments, but got 0\. .* It takes \{\}\.$/u,
        ),
        expect.stringMatching(/^3 wrong-arguments: sum: .* It takes number\[\]\.$/u),
        expect.stringMatching(/^4 wrong-arguments: each: .* It takes \(n: number\) => void\.$/u),
        expect.stringMatching(/^5 wrong-arguments: wide: .* It takes .{160}…\.$/u),
      ]);
    });

    it("does not mind the types within a function that a tool is given", async () => {
      const each = { ...search, signature: "each(visit: (n: number) => void): Promise<void>" };
      const code =
        'import { each } from "./servers/web/index.ts";\neach((n) => { const s: string = n; s.at(0); });';
      expect(await check(code, [each])).toEqual([]);
    });

    it("declares a tool of a file only where the file is missing", async () => {
      const code = 'import { sell } from "./servers/kept/index.ts";\nawait sell({ cost: 1 });';
      const sell: CheckedTool = {
        isInFile: true,
        module: "./servers/kept/index.ts",
        signature: "sell(input: { price: number }): Promise<void>",
      };
      const rules = async () => (await own.check({ code, tools: [sell] })).map(({ rule }) => rule);
      expect(await rules()).toEqual(["wrong-arguments"]);
      offer("kept", "export const price = 1;");
      expect(await rules()).toEqual(["unknown-export"]);
    });

    it("lets a tool that takes nothing be called like the others", async () => {
      const ping = { ...search, signature: "ping(): Promise<unknown>" };
      const code = 'import { ping } from "./servers/web/index.ts";\nawait ping({});';
      expect(await check(code, [ping])).toEqual([]);
      expect(await check(code.replace("{}", "{ host: 1 }"), [ping])).toEqual([
        "2 wrong-arguments: ping: Expected 0 arguments, but got 1.",
      ]);
    });

    it("knows a tool on the host that stands in one module with tools in files", async () => {
      const module = "./servers/weather/index.ts";
      const tool = { ...search, module, signature: "warn(input: { about: string }): Promise<unknown>" };
      // The file takes precedence where both know a tool.
      const known = { ...tool, signature: "get_weather(input: { x: 1 }): Promise<1>" };
      const imports = 'import { get_weather, warn } from "./servers/weather/index.ts";\n';
      const calls =
        'const { temperature } = await get_weather({ location: "Oslo" });\nawait warn({ about: `${temperature}` });';
      expect(await check(`${imports}${calls}`, [tool, known])).toEqual([]);
      expect(await check(`${imports}${calls.replace("about", "abut")}`, [tool, known])).toEqual([
        expect.stringMatching(/^3 wrong-arguments: warn: .*'abut' .* Did you mean to write 'about'\?$/u),
      ]);
      // Without it, it is gone again.
      expect(await check(`${imports}${calls}`)).toEqual([
        expect.stringMatching(
          /^1 unknown-export: .*'warn'\. It exports get_forecast, get_weather, list_locations\.$/u,
        ),
      ]);
    });

    it("reports each mistake once, and no more than twenty", async () => {
      expect(await check("export default [apples, oranges, apples];\napples;")).toEqual([
        "1 unknown-name: Cannot find name 'apples'.",
        "1 unknown-name: Cannot find name 'oranges'.",
        "2 unknown-name: Cannot find name 'apples'.",
      ]);
      const many = Array.from({ length: 30 }, (_, index) => `missing_${index};`).join("\n");
      expect(await check(many)).toHaveLength(20);
    });

    it("needs no optional parameter", async () => {
      const module = "./servers/web/index.ts";
      const greet = { ...search, module, signature: "greet(name: string, times?: number): Promise<void>" };
      const all = { ...search, module, signature: "all(first: string, ...rest: string[]): Promise<void>" };
      const imports = 'import { all, greet } from "./servers/web/index.ts";\n';
      expect(await check(`${imports}greet(1);`, [all, greet])).toEqual([
        "2 wrong-arguments: greet: Argument of type 'number' is not assignable to parameter of type 'string'.",
      ]);
      expect(await check(`${imports}all(1);`, [all, greet])).toEqual([
        "2 wrong-arguments: all: Argument of type 'number' is not assignable to parameter of type 'string'.",
      ]);
      expect(await check(`${imports}all("a", "b", "c");`, [all, greet])).toEqual([]);
    });

    it("resolves imports of files and folders as a runtime does", async () => {
      offer("declared", "export declare const price: number;", "index.d.ts");
      offer("written", "export const price = 1;");
      for (const specifier of ["declared/index.js", "declared/index.d.ts", "written/index", "written/"]) {
        const code = `import { prize } from "./servers/${specifier}";`;
        expect([specifier, await own.check({ code, tools: [] })]).toMatchObject([
          specifier,
          [{ rule: "unknown-export", line: 1, column: 10 }],
        ]);
      }
    });

    it("shows nothing of the files of tools that run on the host", async () => {
      const source =
        "export const KEY = 'canary';\nexport const find = async () => ({ found: 'canary' }) as const;";
      for (const name of ["find.host.ts", "keep.host.mts"]) offer("hidden", source, name);
      offer("hidden", "export declare function find(input: { a: number }): Promise<void>;");
      symlinkSync("find.host.ts", path.join(folder, "servers/hidden/link.ts"));
      for (const place of [
        "find.host.ts",
        "find.host.js",
        "find.host",
        "keep.host.mjs",
        "link.ts",
        "../hidden/find.host.ts",
      ]) {
        const types = `type H = typeof import("./servers/hidden/${place}");`;
        const key = `const key: H["KEY"] = 5, given = {} as { s: H["KEY"]; f: Awaited<ReturnType<H["find"]>> };`;
        const code = `import { find } from "./servers/hidden/index.ts"; ${types}\n${key}\nawait find({ a: given });`;
        const found = await own.check({ code, tools: [], strict: true });
        expect([place, found.map(({ rule }) => rule)]).toEqual([
          place,
          expect.arrayContaining(["wrong-arguments"]),
        ]);
        expect(JSON.stringify(found)).not.toContain("canary");
      }
    });

    it("reads nothing outside the tools' folders", async () => {
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
        expect(await own.check({ code, tools: [] })).toEqual([]);
      }
    });

    it("does not read a file again that has the time and size that it had", async () => {
      const code = 'import { price } from "./servers/same/index.ts";\nprice.toFixed();';
      offer("same", "export const price = 1;");
      const file = path.join(folder, "servers/same/index.ts");
      utimesSync(file, 1, 1);
      expect(await own.check({ code, tools: [] })).toEqual([]);
      offer("same", "export const pr1ce = 1;");
      utimesSync(file, 1, 1);
      expect(await own.check({ code: `${code}\n`, tools: [] })).toEqual([]);
      utimesSync(file, 2, 2);
      expect(await own.check({ code, tools: [] })).toHaveLength(1);
    });

    it("sees a tool that was added, changed or removed, and files beside it", async () => {
      const code = 'import { buy } from "./servers/changing/index.ts";\nexport default (await buy()).price;';
      const rules = async () =>
        (await own.check({ code, tools: [] })).map(({ line, rule }) => `${line} ${rule}`);
      const buys = (type: string) =>
        `export async function buy(): Promise<${type}> { return JSON.parse(""); }`;
      expect(await rules()).toEqual([]);
      offer("changing", buys("{ id: number }"));
      expect(await rules()).toEqual(["2 unknown-member"]);
      offer("changing", buys("{ id: number; price: number }"));
      expect(await rules()).toEqual([]);
      offer("changing", 'export * from "./buy.ts";');
      expect(await own.check({ code, tools: [] })).toMatchObject([
        { rule: "unknown-export", message: expect.stringContaining("has no exported member 'buy'") },
      ]);
      offer("changing", buys("{ id: number }"), "buy.ts");
      expect(await rules()).toEqual(["2 unknown-member"]);
      offer("changing", buys("{ price: 1 }"), "buy.ts");
      expect(await rules()).toEqual([]);
      rmSync(path.join(folder, "servers/changing"), { recursive: true });
      expect(await rules()).toEqual([]);
      offer("changing", buys("{ id: 2 }"));
      expect(await rules()).toEqual(["2 unknown-member"]);
    });
  });
});
