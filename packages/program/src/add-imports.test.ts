import { describe, expect, it } from "vitest";
import { addMissingImports } from "./add-imports.ts";

const tools = [
  { name: "get_weather", module: "./servers/weather/index.ts", server: "weather" },
  { name: "read_file", module: "./servers/files/index.ts", server: "files" },
  { name: "read_file", module: "./servers/fs/index.ts", server: "fs" },
  ...["fetch", "Deno", "module"].map((name) => ({ name, module: "./servers/web/index.ts", server: "web" })),
];
const LINE = 'import { get_weather } from "./servers/weather/index.ts";';

describe("addMissingImports", () => {
  it("adds what is used in a default value and bound nowhere", () => {
    const code = "const f = (a = get_weather) => a;";
    expect(addMissingImports(code, tools)).toEqual({ code: `${LINE} ${code}`, added: [LINE] });
  });

  it("adds many tools that a long program names", () => {
    const many = Array.from({ length: 2_000 }, (_, at) => ({
      name: `tool_${at}`,
      module: "./servers/x/index.ts",
      server: "x",
    }));
    const code = many.map(({ name }) => `${name}({});`).join("\n");
    const started = process.cpuUsage();
    expect(addMissingImports(code, many).added).toHaveLength(2_000);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(5_000);
  });

  it.each([
    ["return await get_weather({});", `${LINE} return await get_weather({});`],
    ["// a\nreturn [1].map(get_weather);", `${LINE} // a\nreturn [1].map(get_weather);`],
    ["#!/usr/bin/env node\nget_weather();", `#!/usr/bin/env node\n${LINE} get_weather();`],
    ["return { get_weather };", `${LINE} return { get_weather };`],
  ])("imports the tool that %j uses, and keeps the lines", (code, expected) => {
    expect(addMissingImports(code, tools)).toEqual({ code: expected, added: [LINE] });
  });

  it.each(["return await weather.get_weather({});", "const { get_weather: f } = weather; f({});"])(
    "imports the server that %j uses",
    (code) => {
      const line = 'import * as weather from "./servers/weather/index.ts";';
      expect(addMissingImports(code, tools)).toEqual({ code: `${line} ${code}`, added: [line] });
    },
  );

  it.each(["await fs.readTextFile({});", "await fs.read_fil({});"])(
    "imports a server whose name is that of a Node module, which has nothing that %j names",
    (code) => {
      const line = 'import * as fs from "./servers/fs/index.ts";';
      expect(addMissingImports(code, tools)).toEqual({ code: `${line} ${code}`, added: [line] });
    },
  );

  it.each([
    "import { get_weather } from './lib.ts';\nget_weather();",
    "import * as get_weather from './lib.ts';\nget_weather.x();",
    "function get_weather() {}\nget_weather();",
    "const { get_weather } = await import('./servers/weather/index.ts');\nget_weather();",
    "[1].map((get_weather) => get_weather);",
    "class get_weather {}\nnew get_weather();",
    "try { x(); } catch (get_weather) { console.log(get_weather); }",
    "if (typeof get_weather === 'function') get_weather();",
    "const { a: [{ ...get_weather }, b = 1] } = x; get_weather();",
    "function f([get_weather = () => {}, ...rest]) { get_weather(); }",
    "const weather = {}; weather.get_weather({});",
    "o.weather.get_weather({});",
    "const o = { get_weather: 1 };\no.get_weather;",
    "let a: get_weather;",
    "await read_file({});",
    "await fetch('http://x');",
    "await Deno.readTextFile('a.txt');",
    "module.exports = 1;",
    "get_weather( is no code",
    "fs.readFileSync('a.txt');",
    "fs.promises.readFile('a.txt');",
  ])("leaves %j alone", (code) => {
    expect(addMissingImports(code, tools)).toEqual({ code, added: [] });
  });
});
