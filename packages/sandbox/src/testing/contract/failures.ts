import type { GuestError } from "@cem/core";
import { expect, it } from "vitest";
import { writeFiles, type Harness } from "./harness.ts";

/** Files of the workspace that programs import. */
const HELPERS = {
  "helpers/divide.ts": `export enum Sign { Plus,
 Minus }
export function divide(a: number, b: number): number {
  throw new RangeError("by zero");
}
`,
  "helpers/half.ts": `import { divide } from "./divide.ts";
export const half = (b: number) => divide(1, b);
`,
  "helpers/broken.ts": "export const a = 1;\nexport const b = ;\n",
  "helpers/imports.ts": `import { b } from "./broken.ts";\nexport const a = b;\n`,
  "helpers/plain.js": "export const a = 1;\nexport const b = ;\n",
  "helpers/twice.ts": "export const a = 1;\nlet b = 1;\nlet b = 2;\n",
  "helpers/parses.ts": `export const a =\n  JSON.parse("no");\n`,
  "helpers/lacks.ts": `import { third } from "./half.ts";\nexport const a = third;\n`,
};

/** Contract tests: how errors of programs are reported. */
export function failuresContract(harness: () => Harness): void {
  it("tells a syntax error with its line and column, and runs nothing", async () => {
    const outcome = await harness().run("console.log('ran');\nconst x: = 1;");
    expect(outcome).toMatchObject({
      status: "failed",
      kind: "syntax",
      output: "",
      error: { line: 2, column: 10 },
    });
  });

  it("tells an exception with the user's own line, also below imports and types", async () => {
    const code = `import { add } from "./servers/calculator/index.ts";
interface Row { id: number }
function check(row: Row): void {
  if (row.id < 0) throw new RangeError("negative id");
}
check({ id: await add({ a: 1, b: 1 }) });
check({ id: -1 });`;
    const outcome = await harness().run(code);
    expect(outcome).toMatchObject({
      status: "failed",
      kind: "exception",
      error: { name: "RangeError", message: "negative id", line: 4 },
    });
    const { stack } = (outcome as { error: { stack: string } }).error;
    expect(stack.split("\n")).toEqual(["at check (program.ts:4:25)", "at program.ts:7:1"]);
  });

  it("tells an exception inside a tool with the line that called it", async () => {
    const code = `import { divide } from "./servers/calculator/index.ts";\n\nexport default await divide({ a: 1, b: 0 });`;
    const error = { name: "ToolError", message: "calculator.divide: division by zero", line: 3 };
    expect(await harness().run(code)).toMatchObject({ status: "failed", error });
  });

  it("tells the object that a tool threw in place of an error", async () => {
    const code = `import { refuse } from "./servers/plain/index.mjs";\nawait refuse();`;
    const message = 'plain.refuse: it threw an object that is no error.\nCaused by {"code":7}';
    expect(await harness().run(code)).toMatchObject({ error: { name: "ToolError", message, line: 2 } });
  });

  it.each([
    [
      "a name that is too long for any tool",
      `await callTool("s", "x".repeat(257))`,
      /^No server or tool has so long/,
    ],
    [
      "a long message that is longer in the sandbox's own words",
      `throw new Error("Requires net access, run again with the --allow-net flag\\n".repeat(140))`,
      /^The sandbox has no network access/,
    ],
  ])("tells %s", async (_, code, message) => {
    const outcome = await harness().run(`import { callTool } from "cem:client"; ${code};`);
    expect(outcome).toMatchObject({
      status: "failed",
      error: { message: expect.stringMatching(message) as string },
    });
  });

  it("tells what is missing from a module, where, and what it has", async () => {
    const code = `// weather\nimport { ad } from "./servers/calculator/index.ts";\nexport default await ad({});`;
    const message = expect.stringMatching(
      /^ad is not exported by \.\/servers\/calculator\/index\.ts\. It exports .{0,200}add/,
    ) as string;
    expect(await harness().run(code)).toMatchObject({
      status: "failed",
      error: { message, line: 2, column: 10 },
    });
  });

  it("tells a module that is not there, and those that are", async () => {
    const code = `import { add } from "./servers/calculater/index.ts";\nadd({});`;
    const message = expect.stringMatching(/\.\/servers\/ has .{0,200}calculator/) as string;
    expect(await harness().run(code)).toMatchObject({ status: "failed", error: { message, line: 1 } });
    const bare = await harness().run(`import _ from "lodash";\nexport default _;`);
    expect(bare).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining('"lodash" can\'t be imported') },
    });
    const inside = await harness().run(`import { parse } from "./servers/lacking/index.ts";\nparse();`);
    expect(inside).toMatchObject({
      error: {
        message: expect.stringMatching(
          /"zod" can't be imported.{0,200} in \/workspace\/servers\/lacking\/index\.ts\.$/,
        ),
      },
    });
  });

  it.each([
    ["a string", "throw 'just text'", "just text"],
    ["null", "throw null", "null"],
    ["an object with a hostile message", "throw { get message() { throw 1 } }", ""],
    [
      "an error whose name is a Proxy",
      "throw Object.assign(new Error('m'), { name: new Proxy({}, {}) })",
      "m",
    ],
    ["an object", "throw { code: 5, detail: 'quota' }", '{"code":5,"detail":"quota"}'],
    [
      "an object like an error",
      "throw { code: 5, message: 'no quota', of: 'quota', get left() { throw 1; }, act() {} }",
      'no quota {"code":5}',
    ],
    [
      "an error with members of its own",
      "throw Object.assign(new Error('a', { cause: new Error('b') }), { body: { retry: 5 } })",
      'a {"body":{"retry":5}}\nCaused by Error: b',
    ],
    [
      "an error with members without end",
      "throw new Proxy(Object.assign(new Error('a'), { b: 1 }), { getOwnPropertyDescriptor() { throw 1; } })",
      "a",
    ],
    [
      "an error of disposal",
      "throw new SuppressedError(new Error('a'), new TypeError('b'), 'both')",
      "both\n- Error: a\n- TypeError: b",
    ],
    [
      "an error with causes",
      "throw new Error('a', { cause: new TypeError('b', { cause: 'c' }) })",
      "a\nCaused by TypeError: b\nCaused by c",
    ],
    [
      "an error that repeats its cause's message",
      "throw new Error('a: b', { cause: new Error('b', { cause: 'c' }) })",
      "a: b",
    ],
    [
      "an error that collects others",
      "await Promise.any([Promise.reject(new Error('a')), Promise.reject({ b: 1 })])",
      'All promises were rejected\n- Error: a\n- {"b":1}',
    ],
    [
      "a long text",
      "throw 'ab'.repeat(5_000)",
      `${"ab".repeat(4_096)} [Only the first 8192 characters are shown.]`,
    ],
    [
      "an error with a long cause",
      "throw new Error('a', { cause: 'b'.repeat(9_000) })",
      `a\nCaused by ${"b".repeat(8_180)} [Only the first 8192 characters are shown.]`,
    ],
    [
      "an error with hostile causes",
      "throw { message: 'm', get cause() { throw 1 }, errors: new Proxy([], { get() { throw 1 } }) }",
      "m",
    ],
    [
      "a path in the workspace that names the workspace",
      "await (await import('node:fs/promises')).readFile('./workspace/none.txt')",
      "ENOENT: no such file or directory, open '/workspace/workspace/none.txt'. Relative paths start in /workspace.",
    ],
  ])("survives that %s is thrown", async (_, code, message) => {
    expect(await harness().run(code)).toMatchObject({
      status: "failed",
      kind: "exception",
      error: { message },
    });
  });

  it("fails for a rejection that nobody handles and an error in a timer", async () => {
    const rejected = "Promise.reject(new TypeError('unseen'));\nawait new Promise(() => {});";
    expect(await harness().run(rejected)).toMatchObject({
      status: "failed",
      error: { message: "unseen", line: 1 },
    });
    const timer = "setTimeout(() => {\n  throw new Error('tick');\n}, 1);\nawait new Promise(() => {});";
    expect(await harness().run(timer)).toMatchObject({
      status: "failed",
      error: { message: "tick", line: 2 },
    });
  });

  it("ends well when the program ends its own process well", async () => {
    const [well, badly] = ["console.log('done'); process.exit();", "Deno.exit(3)"];
    expect(await harness().run(well)).toMatchObject({ status: "completed", output: "done\n" });
    expect(await harness().run(badly)).toMatchObject({ status: "failed", error: { name: "ExitError" } });
  });

  it.each(["process.exitCode = 3", "Deno.exitCode = 3", "setTimeout(() => { process.exitCode = '3'; }, 5)"])(
    "fails where the program sets the exit code of a failure: %s",
    async (set) => {
      const error = { name: "ExitError", message: expect.stringContaining("exit code to 3") as string };
      const outcome = await harness().run(`console.log("printed"); ${set}; export default 1;`);
      expect(outcome).toMatchObject({ status: "failed", kind: "exception", error, output: "printed\n" });
      expect(await harness().run(`process.exitCode = 3; Deno.exitCode = 0; return 1;`)).toMatchObject({
        value: 1,
      });
    },
  );

  it("names the file and the line where another file of the workspace fails", async () => {
    writeFiles(harness().workspace, HELPERS);
    const run = async (code: string) => (await harness().run(code)) as { error?: GuestError };
    const [thrown, stack] = ["helpers/divide.ts, line 4: by zero", "at divide (helpers/divide.ts:4:9)"];
    expect(await run(`import { half } from "./helpers/half.ts";\n\nreturn half(0);`)).toMatchObject({
      error: {
        message: thrown,
        line: 3,
        stack: `${stack}\nat half (helpers/half.ts:2:36)\nat program.ts:3:8`,
      },
    });
    const late = `await import("node:fs");\nconst { half } = await import("./helpers/half.ts");\nreturn half(0);`;
    expect(await run(late)).toMatchObject({ error: { message: thrown, line: 3 } });
    expect(await run(`import "./helpers/divide.ts"; throw new Error("own");`)).toMatchObject({
      error: { message: "own" },
    });
    const files: [name: string, message: string][] = [
      ["broken.ts", "helpers/broken.ts, line 2: Expression expected"],
      ["imports.ts", "helpers/broken.ts, line 2: Expression expected"],
      ["plain.js", "helpers/plain.js, line 2: Expression expected"],
      ["twice.ts", "helpers/twice.ts: Identifier 'b' has already been declared"],
      ["parses.ts", "helpers/parses.ts, line 2: Unexpected token 'o', \"no\" is not valid JSON"],
      ["lacks.ts", "helpers/lacks.ts: third is not exported by ./half.ts. It exports half."],
    ];
    for (const [name, message] of files) {
      const error = { name: "SyntaxError", message, line: 2 };
      expect(await run(`\nimport { a } from "./helpers/${name}"; return a;`)).toMatchObject({ error });
      expect(await run(`\nreturn await import("./helpers/${name}");`)).toMatchObject({ error });
    }
  });

  it("refuses nesting that no parser could take", async () => {
    const deep = await harness().run(`${"(".repeat(100_000)}1${")".repeat(100_000)}`);
    expect(deep).toMatchObject({
      status: "failed",
      kind: "syntax",
      error: { message: expect.stringContaining("nested too deeply") },
    });
  });
}
