import { describe, expect, it } from "vitest";
import { addMissingImports } from "./add-imports.ts";

const tools = [
  { name: "get_weather", module: "./servers/weather/index.ts" },
  { name: "read_file", module: "./servers/files/index.ts" },
  { name: "read_file", module: "./servers/fs/index.ts" },
  { name: "fetch", module: "./servers/web/index.ts" },
];
const LINE = 'import { get_weather } from "./servers/weather/index.ts";';

describe("addMissingImports", () => {
  it.each([
    ["return await get_weather({});", `${LINE} return await get_weather({});`],
    ["// a\nreturn [1].map(get_weather);", `${LINE} // a\nreturn [1].map(get_weather);`],
    ["#!/usr/bin/env node\nget_weather();", `#!/usr/bin/env node\n${LINE} get_weather();`],
    ["return { get_weather };", `${LINE} return { get_weather };`],
  ])("imports the tool that %j uses, and keeps the lines", (code, expected) => {
    expect(addMissingImports(code, tools)).toEqual({ code: expected, added: [LINE] });
  });

  it.each([
    "import { get_weather } from './lib.ts';\nget_weather();",
    "import * as get_weather from './lib.ts';\nget_weather.x();",
    "function get_weather() {}\nget_weather();",
    "const { get_weather } = await import('./servers/weather/index.ts');\nget_weather();",
    "[1].map((get_weather) => get_weather);",
    "class get_weather {}\nnew get_weather();",
    "try { x(); } catch (get_weather) { console.log(get_weather); }",
    "if (typeof get_weather === 'function') get_weather();",
    "weather.get_weather({});",
    "const o = { get_weather: 1 };\no.get_weather;",
    "let a: get_weather;",
    "await read_file({});",
    "await fetch('http://x');",
    "get_weather( is no code",
  ])("leaves %j alone", (code) => {
    expect(addMissingImports(code, tools)).toEqual({ code, added: [] });
  });
});
