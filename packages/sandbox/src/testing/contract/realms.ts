import { existsSync } from "node:fs";
import path from "node:path";
import type { RunOutcome, SandboxProvider, ToolInvoker } from "@cem/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { breakoutsContract } from "./breakouts.ts";
import { recordingInvoker, until } from "./harness.ts";
import { reachableContract } from "./reachable.ts";
import { SessionHarness } from "./sessions.ts";

const FILES = {
  "note.txt": "hello",
  "servers/counter/index.ts": `export { count } from "./count.ts";\n`,
  "servers/eager/index.ts": `Deno.writeTextFileSync("/workspace/eager.txt", "");\nexport const eager = async () => 1;\n`,
  "uses-runtime.ts": `export const folder = Deno.cwd();\n`,
  "skills/where/index.ts": `import process from "node:process";\nexport const cwd = () => process.cwd();\n`,
  "servers/counter/count.ts": `let calls = 0;\nexport async function count(_: object) { return ++calls; }\n`,
};
const COUNT = `import { count } from "./servers/counter/index.ts";\nexport default await count({});`;
/** Long enough for leftovers of an earlier run to be called. */
const WAIT = "await new Promise((resolve) => setTimeout(resolve, 40));";
/** Code by which a run leaves something behind, code by which the next run looks for it, and the expected value. */
type Left = [name: string, leave: string, look: string, found: unknown];

const LANGUAGE: Left[] = [
  ["a new global", "globalThis.mark = 1;", "return typeof mark", "undefined"],
  ["another global", "globalThis.structuredClone = () => 1;", "return structuredClone([2])", [2]],
  ["a changed prototype", "Array.prototype.map = () => [];", "return [1].map((one) => one + 1)", [2]],
  [
    "a changed prototype of iterators",
    "Object.getPrototypeOf([][Symbol.iterator]()).next = () => ({ done: true });",
    "return [...[1, 2]]",
    [1, 2],
  ],
  ["a member of every object", "Object.prototype.mark = 1;", "return ({}).mark ?? null", null],
  [
    "frozen parts of the language",
    "for (const one of [Object.prototype, Array.prototype, Promise.prototype, Error, globalThis, Deno]) Object.freeze(one);",
    "Array.prototype.mark = 1; globalThis.other = 2; Deno.mark = 3; return [[].mark, other, Deno.mark]",
    [1, 2, 3],
  ],
  ["a match", `/(secret)/.exec("secret");`, "return [RegExp.$1, RegExp.lastMatch]", ["", ""]],
  [
    "a way to print stacks",
    "Error.stackTraceLimit = 0; Error.prepareStackTrace = () => 'mine';",
    `return new Error("x").stack.split("\\n")[0] + Error.stackTraceLimit`,
    "Error: x10",
  ],
  [
    "members of call sites",
    `Error.prepareStackTrace = (_, sites) => { for (let one = sites[0]; one; one = Object.getPrototypeOf(one)) try { one.mark = 1; } catch {} }; void new Error().stack;`,
    `Error.prepareStackTrace = (_, sites) => sites[0].mark ?? "none"; return new Error().stack`,
    "none",
  ],
  [
    "members of the international and of WebAssembly's types",
    "for (const type of [Intl.NumberFormat, WebAssembly.Module, Temporal.PlainDate]) type.prototype.mark = 1;",
    "return [Intl.NumberFormat, WebAssembly.Module, Temporal.PlainDate].map((type) => 'mark' in type.prototype)",
    [false, false, false],
  ],
  [
    "a symbol that all realms have",
    `globalThis[Symbol.for("mark")] = 1;`,
    `return globalThis[Symbol.for("mark")] ?? null`,
    null,
  ],
];

const RUNTIME: Left[] = [
  [
    "a changed Deno",
    "Deno.readTextFileSync = () => 'mine';",
    "return Deno.readTextFileSync('note.txt')",
    "hello",
  ],
  [
    "a changed module",
    "import fs from 'node:fs'; fs.existsSync = () => 'mine';",
    "import fs, { existsSync } from 'node:fs'; return [fs.existsSync('note.txt'), existsSync('note.txt')]",
    [true, true],
  ],
  [
    "another current folder",
    "Deno.mkdirSync('below', { recursive: true }); Deno.chdir('below'); process.chdir('/workspace/below');",
    "return [Deno.cwd(), process.cwd()]",
    ["/workspace", "/workspace"],
  ],
  [
    "a changed process",
    "process.on('late', () => console.log('heard')); process.on('exit', () => {}); process.title = 'mine'; process.env.MARK = '1'; process.argv.push('mark');",
    "process.emit('late'); return [process.listenerCount('late'), process.title === 'mine', process.env.MARK ?? null, process.argv.includes('mark')]",
    [0, false, null, false],
  ],
  [
    "an open database with a lock",
    "import { DatabaseSync } from 'node:sqlite'; const db = new DatabaseSync('left.db'); db.exec('CREATE TABLE t(a); BEGIN EXCLUSIVE; INSERT INTO t VALUES (1)');",
    "import { DatabaseSync } from 'node:sqlite'; const db = new DatabaseSync('left.db'); return db.prepare('SELECT count(*) n FROM sqlite_master').get().n",
    1,
  ],
  [
    "a timer",
    "setTimeout(() => console.log('late'), 5); setInterval(() => console.log('again'), 5);",
    `${WAIT} return 1`,
    1,
  ],
  [
    "an error in an interval",
    "setInterval(() => { throw new Error('late'); }, 5); setInterval(() => { Promise.reject('text'); }, 5);",
    `${WAIT} return 1`,
    1,
  ],
  [
    "the state of a tool and of its own modules",
    `import { count } from "./servers/counter/index.ts"; import { turns } from "data:text/javascript,let n = 0; export const turns = () => ++n;"; await count({}); turns();`,
    `import { count } from "./servers/counter/index.ts"; import { turns } from "data:text/javascript,let n = 0; export const turns = () => ++n;"; return [await count({}), turns()]`,
    [1, 1],
  ],
];

/** Programs after which the guest is ended, since they could reach the runtime. */
const COSTLY: [name: string, code: string, limits?: { timeoutMs: number }][] = [
  ["a global of the runtime", "new URL('a:b');"],
  ["a function of Deno for more than texts", "Deno.readFileSync('note.txt');"],
  ["a module of Node's", "import 'node:path';"],
  [
    "a module that asks for its own address",
    "import { url } from \"data:text/javascript,export const url = () => import /* { */ . meta.url\"; if (!url().startsWith('data:')) throw 1;",
  ],
  ["a module that uses the runtime", "import './uses-runtime.ts';"],
  ["such a module, later", "await import('./uses-runtime.ts');"],
  ["such a module of a skill", "import { cwd } from './skills/where/index.ts'; cwd();"],
  [
    "a module whose name is not in the program",
    "await import(['./servers', 'counter', 'index.ts'].join('/'));",
  ],
  ["code made of text", "eval('1');"],
  ["the global object", "globalThis.mark = 1;"],
  [
    "work without end",
    "const again = (): Promise<void> => Promise.resolve().then(again); void again();",
    { timeoutMs: 500 },
  ],
];

/** Contract tests: runs of one session, one after another in the same guest, each in a realm of its own. */
export function realmsContract(makeProvider: () => SandboxProvider): void {
  let session: SessionHarness;
  beforeAll(async () => {
    session = await SessionHarness.make(makeProvider, FILES, {
      hostTools: { crm: ["find"], counter: ["ask"] },
    });
  });
  afterAll(() => session?.dispose());
  const invoker = recordingInvoker(({ tool, args }) => (tool === "slow" ? new Promise(() => {}) : args));

  reachableContract(makeProvider, FILES);
  breakoutsContract(makeProvider, FILES);

  it("say that a realm holds each run", () => {
    expect(session.mechanisms).toContain("realm");
  });

  describe("leave nothing of the language", () => {
    itPassesNothingOn(LANGUAGE);
  });
  describe("leave nothing in the runtime", () => {
    itPassesNothingOn(RUNTIME);
  });

  function itPassesNothingOn(rows: readonly Left[]): void {
    it.each(rows)("by %s", async (_, leave, look, found) => {
      await session.run("return 1");
      // On a busy machine, the timer may fire before the run has ended, and then rightly fail it.
      await expect
        .poll(() => session.run(`${leave}\nexport default 1;`, { invoker }))
        .toMatchObject({ status: "completed", value: 1 });
      const next = await session.run(look, { invoker });
      expect(next).toMatchObject({ status: "completed", value: found });
      expect(next.output).not.toMatch(/heard|seen|late|again|\bon\b|: [23]|^ /m);
    });
  }

  describe("cost their guest", () => {
    it.each(COSTLY)("by %s", async (_, code, limits?: { timeoutMs: number }) => {
      await session.run(`${code}\nexport default 1;`, { invoker, limits });
      expect(session.kept).toBe(0);
      expect(await session.value(COUNT)).toBe(1);
      await until(() => session.kept === 1);
    });

    it("when they are ended", async () => {
      const outcome = await session.run("while (true) {}", { limits: { timeoutMs: 200 } });
      expect(outcome).toMatchObject({ status: "timed-out" });
      expect(session.kept).toBe(0);
    });
  });

  it("keep their guest after an error, whose place is right each time", async () => {
    await session.run("return 1");
    const code = `import { count } from "./servers/counter/index.ts";\n\nthrow new Error(String(await count({})));`;
    const missing = `import { coun } from "./servers/counter/index.ts";\ncoun();`;
    const nowhere = `import "./servers/conter/index.ts";`;
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await session.run(code)).toMatchObject({ status: "failed", error: { message: "1", line: 3 } });
      const message = expect.stringMatching(
        /^coun is not exported by .{0,100} It exports .{0,200}count/,
      ) as string;
      expect(await session.run(missing)).toMatchObject({ error: { message, line: 1 } });
      const hint = expect.stringMatching(/\.\/servers\/ has .{0,200}counter/) as string;
      expect(await session.run(nowhere)).toMatchObject({ error: { message: hint } });
    }
    expect(session.kept).toBe(1);
  });

  it("survive a syntax error", async () => {
    const outcome = await session.run("const a = /(/;\nexport default a;");
    expect(outcome).toMatchObject({ status: "failed", kind: "syntax" });
    expect(await session.value(COUNT)).toBe(1);
  });

  it("load every module anew, by whatever address, and find tools on the host", async () => {
    await session.run("return 1");
    const before = session.stats().reused;
    const code = `import { ask, count } from "./servers/counter/index.ts";
import { count as other } from "./servers/counter/count.ts?other";
import { count as third } from "./servers/counter/count.ts?run=99";
import { find } from "./servers/crm/index.ts";
import { callTool } from "./client/index.ts";
export default [await count({}), await other({}), await third({}), await ask({ a: 1 }), await find({ a: 2 }), await callTool("h", "t", 3)];`;
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await session.value(code, { invoker })).toEqual([1, 1, 1, { a: 1 }, { a: 2 }, 3]);
    }
    expect(session.stats().reused).toBe(before + 3);
  });

  it("are freed with all that they imported", async () => {
    const code = `import { ask, count } from "./servers/counter/index.ts";
import { callTool } from "./client/index.ts";
import { turns } from "data:text/javascript,export const turns = () => 'data';";
export default [await count({}), await ask({}), await callTool("h", "t", 3), typeof turns()];`;
    for (let turn = 0; turn < 30; turn += 1) await session.value(code, { invoker });
    const before = session.stats().reused;
    const realms = `import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
setFlagsFromString("--expose-gc");
runInNewContext("gc")();
export default getHeapStatistics().number_of_native_contexts;`;
    expect(await session.value(realms)).toBeLessThan(10);
    expect(session.stats().reused).toBe(before + 1);
  });

  it("keep their guest when they use text files", async () => {
    await session.run("return 1");
    const before = session.stats().reused;
    const code = `await Deno.mkdir("made/deep", { recursive: true }); await Deno.writeTextFile("made/a.txt", "é1"); Deno.writeTextFileSync("made/a.txt", "2", { append: true });
await Deno.copyFile("made/a.txt", "made/b.txt"); await Deno.rename("made/b.txt", "/workspace/made/deep/c.txt");
const names = []; for await (const { name, isFile } of Deno.readDir("made")) names.push([name, isFile]); names.sort();
const failed = await Deno.readTextFile("made/none.txt").catch(({ name, code, message, stack }) => [name, code, message.includes("made/none.txt"), stack.includes("program")]);
const text = Deno.readTextFileSync("made/deep/c.txt"); await Deno.remove("made", { recursive: true });
let wrong; try { Deno.readTextFileSync(1 as never); } catch (error) { wrong = error.message; }
return [text, names, failed, Array.from(Deno.readDirSync("."), ({ name }) => name).includes("made"), wrong];`;
    expect(await session.value(code)).toEqual([
      "é12",
      [
        ["a.txt", true],
        ["deep", false],
      ],
      ["NotFound", "ENOENT", true, true],
      false,
      "The path is a string.",
    ]);
    expect(session.stats().reused).toBe(before + 1);
    expect(session.kept).toBe(1);
  });

  it("run no code twice for a module that they write and that uses the runtime", async () => {
    const own = recordingInvoker(({ args }) => args);
    const code = `import { callTool } from "cem:client"; await callTool("h", "t", 1);
Deno.writeTextFileSync("late.ts", "export default new URL('a:b').href;"); return (await import("./late.ts")).default;`;
    expect(await session.value(code, { invoker: own })).toBe("a:b");
    expect(own.calls).toHaveLength(1);
  });

  it("see a tool's file as it is at each run", async () => {
    const code = (text: string) =>
      `Deno.writeTextFileSync("own.ts", ${JSON.stringify(text)});\nreturn (await import("./own.ts")).default;`;
    expect(await session.value(code("export default 1 as number;"))).toBe(1);
    expect(await session.value(code("export default 2 as number;"))).toBe(2);
  });

  it("share the files of the workspace", async () => {
    await session.value("Deno.writeTextFileSync('shared.txt', 'kept')");
    expect(await session.value("return Deno.readTextFileSync('shared.txt')")).toBe("kept");
  });

  it("hear nothing of a program that goes on after an error", async () => {
    const on = `void (async () => { for (let i = 0; i < 500; i++) await null; console.log('on'); Promise.reject('text'); throw new Error('late'); })();
setTimeout(() => { throw new Error('late'); }, 5);
throw new Error("end");`;
    expect(await session.run(on)).toMatchObject({ status: "failed", error: { message: "end" }, output: "" });
    expect(await session.run(`${WAIT} return 1`)).toMatchObject({
      status: "completed",
      value: 1,
      output: "",
    });
    expect(session.kept).toBe(1);
  });

  it("count their calls anew, and get no result of an earlier one's", async () => {
    const code = `import { callTool } from "cem:client";\nvoid callTool("h", "slow", {});\nfor (let i = 0; i < 4; i++) await callTool("h", "t", i);\nthrow new Error("end");`;
    for (let turn = 0; turn < 3; turn += 1) {
      const outcome = await session.run(code, { invoker, limits: { calls: 5 } });
      expect(outcome).toMatchObject({ status: "failed", error: { message: "end" } });
    }
    const late = answerLater();
    const asks = (end: string) =>
      `import { callTool } from "cem:client";\nvoid callTool("h", "late", {}).then(() => console.log("settled"));\n${end};`;
    await session.run(asks("throw 1"), { invoker: late.invoker });
    const listening = session.run(asks(`${WAIT} return 2`), { invoker });
    late.answer();
    expect(await listening).toMatchObject({ value: 2, output: "settled\n" });
    expect(session.kept).toBe(1);
  });

  it("execute nothing of a program that may not run yet, or of its imports", async () => {
    const session = await SessionHarness.make(makeProvider, FILES);
    const code = `import { eager } from "./servers/eager/index.ts";\nconsole.log("printed");\nDeno.writeTextFileSync("/workspace/made.txt", "");\nexport default await eager({});`;
    const made = (): string[] =>
      ["eager.txt", "made.txt"].filter((name) => existsSync(path.join(session.workspace, name)));
    const decided = async (mayRun: boolean): Promise<RunOutcome> => {
      const decision = Promise.withResolvers<boolean>();
      const outcome = session.run(code, { mayRun: decision.promise });
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(made()).toEqual([]);
      decision.resolve(mayRun);
      return outcome;
    };
    try {
      await session.run(COUNT);
      expect(await decided(false)).toMatchObject({ status: "killed", reason: "aborted", output: "" });
      expect(await session.value(COUNT)).toBe(1);
      expect(made()).toEqual([]);
      expect(await decided(true)).toMatchObject({ status: "completed", value: 1, output: "printed\n" });
      expect(made()).toEqual(["eager.txt", "made.txt"]);
      expect(session.stats()).toMatchObject({ reused: 3, kept: 1 });
    } finally {
      await session.dispose();
    }
  });

  it("are never given the guest of another session, or of none", async () => {
    const own = await SessionHarness.make(makeProvider, FILES, { defaultSession: undefined });
    try {
      await own.run(COUNT, { session: "one" });
      await own.run(COUNT, { session: "two" });
      expect(own.stats()).toMatchObject({ reused: 0, kept: 2 });
      await own.run(COUNT);
      expect(own.stats()).toMatchObject({ reused: 0, kept: 2 });
    } finally {
      await own.dispose();
    }
  });
}

/** An invoker that answers on demand. */
function answerLater(): { invoker: ToolInvoker; answer(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const invoker = recordingInvoker(async () => {
    await promise;
    return "late";
  });
  return { invoker, answer: resolve };
}
