import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Agent } from "@cem/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { corpusTools } from "../test/corpus/tools.ts";
import { createAgent, defineTool } from "./index.ts";

let folder: string;
let agent: Agent;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "cem-as-meant-"));
  agent = createAgent({
    configFile: false,
    config: {
      execution: { workspaceDir: path.join(folder, "workspace"), serversDir: path.join(folder, "servers") },
      optimizations: { toolCache: false, sandboxPooling: false },
    },
    tools: {
      ...corpusTools,
      disk: { list_tables: defineTool({ description: "List tables on disk.", execute: () => ["disk"] }) },
    },
  });
});

afterAll(async () => {
  await agent.dispose();
  await rm(folder, { recursive: true, force: true });
});

const CALL = '(await get_weather({ location: "Oslo" })).temperature';

describe("executeCode", () => {
  it.each([
    './servers/weather"',
    './servers/weather/"',
    './servers/weather/index"',
    './servers/weather/index.js"',
    'servers/weather/index.ts"',
    '/workspace/servers/weather"',
  ])("imports a tool from %j", async (specifier) => {
    const result = await agent.executeCode(`import { get_weather } from "${specifier};\nreturn ${CALL};`);
    expect(result).toMatchObject({ error: null, value: 4 });
    const wrong = await agent.executeCode(
      `import { get_weather } from "${specifier};\nreturn (get_weather({ location: "Oslo" })).temperature;`,
    );
    expect(wrong.error).toMatchObject({ code: "CODE_MISTYPED", message: expect.stringContaining("Line 2") });
  });

  it.each([
    [`const { get_weather } = await import("./servers/weather");\nreturn ${CALL};`, 4],
    [
      'import path from "path";\nimport { stat } from "fs/promises";\nreturn [path.sep, typeof stat];',
      ["/", "function"],
    ],
    ['const { sep } = await import("path");\nreturn sep;', "/"],
    ["```ts\nreturn 1;\n```", 1],
    ["module.exports = { a: 1 };", { a: 1 }],
    ["async function main() { return 5; }\nmodule.exports = main();", 5],
    ["let n = 4;\nif (!module.parent) n += 1;\nn;", 5],
    ["let n = 4;\nif (module.parent === null) n += 1;\nn;", 5],
    [
      "const { module, exports } = { module: { parent: 4 }, exports: 1 };\nreturn module.parent + exports;",
      5,
    ],
    ["function exports() {}\nreturn [{ parent: 5 }].map((module) => module.parent)[0];", 5],
    ["const FIVE = 5;\nexport const main = async () => FIVE;", 5],
  ])("takes %j as meant", async (code, value) => {
    expect(await agent.executeCode(code)).toMatchObject({ error: null, value });
  });

  it("counts the lines of fenced code with the fence", async () => {
    const { error } = await agent.executeCode("```ts\nconst a = 1;\nreturn b;\n```");
    expect(error).toMatchObject({ message: expect.stringContaining("Line 3: Cannot find name 'b'.") });
  });

  it.each([
    ["export default ({ n }: { n: number }) => n;", "({ n }: { n: number })"],
    [
      "const run = (name: string, more?: 1) => `hello ${name}`;\nexport default run;",
      "(name: string, more?: 1)",
    ],
    ["export default async function run(n) { return [n]; }", "(n)"],
    ["export default function (this: void, n: number) { return [n]; }", "(n: number)"],
  ])("says that nothing gives %j its arguments", async (code, parameters) => {
    const { notes } = await agent.executeCode(code);
    expect(notes).toContain(
      `The default export takes ${parameters} and is called without arguments: set its values in the code.`,
    );
  });

  it.each([
    "export default (n = 1, { m } = {}) => [n, m];",
    "export default (n?: number, ...more) => [n, more];",
    "export default async function run(n) { return [n]; }\nawait run(1);",
    "const n = 1;\nexport default n;",
    "export default function (this: void) { return 1; }",
    "if (Date.now() > 0) return 1;\nexport default (n) => n;",
  ])("says nothing of arguments after %j", async (code) => {
    const { error, notes = [] } = await agent.executeCode(code);
    expect(error).toBeNull();
    expect(notes.filter((note) => note.includes("arguments"))).toEqual([]);
  });

  it("prints a table", async () => {
    const { output } = await agent.executeCode("console.table([{ name: 'Ada', age: 36 }]);");
    expect(output).toContain("│ (idx) │ name  │ age │");
    expect(output).toContain('"Ada"');
  });

  it("imports a tool that is only called, and says so", async () => {
    const result = await agent.executeCode(`const a = 1;\nreturn ${CALL} + a;`);
    expect(result).toMatchObject({ error: null, value: 5 });
    expect(result.notes).toEqual([
      'Added to the code: import { get_weather } from "./servers/weather/index.ts";',
    ]);
  });

  it("asks which tool is meant where several have the name", async () => {
    const { error } = await agent.executeCode("const a = 1;\nreturn await list_tables();");
    expect(error?.message).toMatch(
      /^Line 2: list_tables is not imported\. Add `import \{ list_tables \} from "\.\/servers\/\w+\/index\.ts";` or `/,
    );
  });
});
