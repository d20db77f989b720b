import type { RunOutcome, SandboxProvider, ToolInvoker, ToolResult } from "@cem/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { recordingInvoker, TOOL_FILES } from "./harness.ts";
import { SessionHarness } from "./sessions.ts";

const CLIENT = `import { callTool } from "./client/index.ts";\n`;
const FILES = { ...TOOL_FILES, "note.txt": "noted\n" };

/** Contract tests: work that a program does not await. The run continues until it has ended, and reports it. */
export function unawaitedContract(makeProvider: () => SandboxProvider): void {
  let session: SessionHarness;
  beforeAll(async () => {
    session = await SessionHarness.make(makeProvider, FILES);
  });
  afterAll(() => session?.dispose());

  /** Answers shortly after a program that doesn't await it has returned. */
  const invoker = recordingInvoker(async ({ args }) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return args;
  });
  const call = (name: string, line?: number) => ({
    kind: "call",
    server: "h",
    name,
    ...(line !== undefined && { line }),
    isStopped: false,
  });

  /** Runs code that must complete and must not affect the next run. */
  async function complete(code: string, kept = 1): Promise<RunOutcome> {
    const outcome = await session.run(code, { invoker });
    expect(outcome).toMatchObject({ status: "completed" });
    expect(session.kept).toBe(kept);
    expect(await session.run("return 1")).toMatchObject({ value: 1, output: "", toolCalls: [] });
    return outcome;
  }

  it("waits for calls, those begun meanwhile as well", async () => {
    const code = `${CLIENT}async function main() {
  const first = await callTool("h", "one", 1);
  console.log(first, await callTool("h", "two", 2));
}
void main();
export default "value";`;
    const outcome = await complete(code);
    expect(outcome).toMatchObject({ value: "value", output: "1 2\n", unawaited: [call("one", 3)] });
    expect(outcome.toolCalls.map(({ tool, ok, isLate }) => [tool, ok, isLate])).toEqual([
      ["one", true, true],
      ["two", true, true],
    ]);
  });

  it("waits for calls in callbacks and of a chain", async () => {
    const code = `${CLIENT}const seen: unknown[] = [];
[1, 2, 3].forEach(async (n) => {
  seen.push(await callTool("h", "each", n));
  if (seen.length === 3) console.log(seen.length);
});
void callTool("h", "chain", 4).then((value) => console.log(value));
const done = true;`;
    const outcome = await complete(code);
    expect(outcome).toMatchObject({
      value: undefined,
      output: "3\n4\n",
      unawaited: [call("each", 4), call("each", 4), call("each", 4), call("chain", 7)],
    });
  });

  it("waits for tools in the guest, imports, and files that are read or written", async () => {
    const code = `void (async () => {
  await null;
  const { add } = await import("./servers/calculator/index.ts");
  const { readFile } = await import("node:fs/promises");
  await Deno.writeTextFile("out.txt", String(await add({ a: 1, b: 2 })));
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(1));
  console.log(await Deno.readTextFile("out.txt"), await readFile("out.txt", "utf8"), digest.byteLength);
})();
export default 1;`;
    expect(await complete(code, 0)).toMatchObject({ output: "3 3 32\n" });
  });

  it("waits for timers, and for what they begin", async () => {
    const code = `${CLIENT}setTimeout(async () => console.log(await callTool("h", "later", 1)), 60);
setInterval(() => {}, 1).unref();
const none = setTimeout(() => {}, 60_000); none.unref();
const cleared = setTimeout(() => {}, 60_000);
setTimeout(() => clearTimeout(cleared), 1);
const done = 1;`;
    const outcome = await complete(code);
    expect(outcome).toMatchObject({ status: "completed", output: "1\n" });
    expect(outcome.unawaited).toContainEqual({
      kind: "timer",
      name: "setTimeout",
      line: 2,
      isStopped: false,
    });
  });

  it("waits for an interval that ends itself, and says that it stopped another one", async () => {
    const code = `${CLIENT}let n = 0;
const timer = setInterval(() => {
  if (++n === 3) clearInterval(timer);
  void callTool("h", "each", n).then((value) => console.log(value));
}, 5);`;
    expect((await session.run(code, { invoker })).output).toBe("1\n2\n3\n");
    expect(await complete("setInterval(() => {}, 5);\nreturn 1;")).toMatchObject({
      value: 1,
      unawaited: [{ kind: "timer", name: "setInterval", line: 1, isStopped: true }],
    });
  });

  const beat = `${CLIENT}let n = 0;
setInterval(() => void callTool("h", "beat", n++), 10);
await callTool("h", "first");`;
  const renewed = `${CLIENT}let n = 0;
(function tick() { void callTool("h", "beat", n++); setTimeout(tick, 300); })();`;
  it.each([
    ["an interval", `${beat}\nreturn 42;`, "setInterval"],
    ["a timer that sets itself anew", `${renewed}\nreturn 42;`, "setTimeout"],
  ])("stops %s of a program that has its value, though its calls go on", async (_, code, name) => {
    const slow = recordingInvoker(async ({ tool }) => {
      await new Promise((resolve) => setTimeout(resolve, tool === "beat" ? 400 : 20));
      return null;
    });
    const outcome = await session.run(code, { invoker: slow, limits: { timeoutMs: 6_000 } });
    expect(outcome).toMatchObject({ status: "completed", value: 42 });
    expect(outcome.unawaited?.filter(({ kind, isStopped }) => kind === "timer" && isStopped)).toEqual([
      { kind: "timer", name, line: 3, isStopped: true },
    ]);
  });

  it("waits for an interval that waits for a call or a timer", async () => {
    const look = `let found;
const timer = setInterval(() => { if (found) { clearInterval(timer); console.log(found); } }, 20);`;
    const slow = recordingInvoker(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_200));
      return "answer";
    });
    const code = `${CLIENT}${look}\nvoid callTool("h", "slow").then((answer) => { found = answer; });`;
    expect((await session.run(code, { invoker: slow })).output).toBe("answer\n");
    const flag = `${look}\nsetTimeout(() => { found = "flag"; }, 1_200);`;
    expect((await session.run(flag)).output).toBe("flag\n");
  });

  it("waits for the calls that another call was faster than", async () => {
    const code = `${CLIENT}const calls = [callTool("h", "one", 1), callTool("h", "two", 2)];
void Promise.race(calls);
void calls[1].then((value) => console.log(value));`;
    expect((await session.run(code, { invoker })).output).toBe("2\n");
  });

  it("waits for a slow interval that prints, and soon stops one that does nothing", async () => {
    const code = `let n = 0;
const timer = setInterval(() => { if (++n === 2) clearInterval(timer); console.log(n); }, 1_100);`;
    expect((await session.run(code)).output).toBe("1\n2\n");
    const outcome = await session.run("setInterval(() => {}, 50);\nconsole.log(1);", {
      limits: { timeoutMs: 8_000 },
    });
    expect(outcome).toMatchObject({ status: "completed", output: "1\n" });
    expect(outcome.unawaited).toContainEqual({
      kind: "timer",
      name: "setInterval",
      line: 1,
      isStopped: true,
    });
  });

  it("waits for many timers and calls", async () => {
    const many = recordingInvoker(({ args }) => args);
    const code = `${CLIENT}let fired = 0;
for (let n = 0; n < 1_000; n++) setTimeout(() => { fired += 1; if (fired === 1_000) console.log("fired"); }, n % 50);
for (let n = 0; n < 2_000; n++) void callTool("h", "t", n).then(() => {});
const done = 1;`;
    const outcome = await session.run(code, { invoker: many, limits: { calls: 10_000 } });
    expect(outcome).toMatchObject({ status: "completed", output: "fired\n" });
    expect(outcome.toolCalls).toHaveLength(2_000);
  });

  it("stops a long timer of a program that has its value, and says so", async () => {
    const code = `${CLIENT}const limit = new Promise((_, reject) =>
  setTimeout(() => reject(new Error("late")), 60_000));
return await Promise.race([callTool("h", "quick", 5), limit]);`;
    expect(await complete(code)).toMatchObject({
      value: 5,
      unawaited: [{ kind: "timer", name: "setTimeout", line: 3, isStopped: true }],
    });
  });

  it.each([
    ["of the global object", `const sleep = (ms) => new Promise((go) => setTimeout(go, ms));`],
    ["of node:timers/promises", `import { setTimeout as sleep } from "node:timers/promises";`],
  ])("waits for timers %s, but not for long ones", async (_, setUp) => {
    const code = `${CLIENT}${setUp}
const first = await Promise.race([callTool("h", "quick", 5), sleep(60_000)]);
void sleep(200).then(() => console.log("slept"));
console.log(first);`;
    const outcome = await session.run(code, { invoker });
    expect(outcome.output).toBe("5\nslept\n");
    expect(outcome.unawaited?.map(({ kind, isStopped }) => [kind, isStopped]).toSorted()).toEqual([
      ["timer", false],
      ["timer", true],
    ]);
    // No promise has settled yet.
    const open = `${CLIENT}${setUp}
void Promise.race([sleep(40), new Promise(() => {})]).then(() => console.log("decided"));`;
    expect((await session.run(open, { invoker })).output).toBe("decided\n");
  });

  it("waits for what calls back, for file handles and for pipelines", async () => {
    const code = `import fs from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream";
import zlib from "node:zlib";
fs.writeFile("back.txt", "text", () => fs.readFile("back.txt", "utf8", (_, text) => {
  console.log(text);
  pipeline(fs.createReadStream("back.txt"), zlib.createGzip(), fs.createWriteStream("back.gz"), () => {
    console.log(fs.readFileSync("back.gz").length > 10);
  });
}));
const handle = await open("note.txt");
void handle.readFile("utf8").then(async (text) => { await handle.close(); console.log(text.trim()); });
return 1;`;
    const { output } = await session.run(code);
    expect(output.trim().split("\n").toSorted()).toEqual(["noted", "text", "true"]);
  });

  it("says nothing where all is awaited, and waits for no promise that nothing will settle", async () => {
    const outcome = await complete(`${CLIENT}await callTool("h", "t");
void new Promise(() => {});
export default await callTool("h", "t", 2);`);
    expect(outcome).toMatchObject({ value: 2 });
    expect(outcome.unawaited).toBeUndefined();
  });

  it.each([
    ["an error of a call", `void callTool("h", "fail", {});`, "refused", 2],
    [
      "an error after a call",
      `void callTool("h", "t").then(() => {\n  throw new Error("after");\n});`,
      "after",
      3,
    ],
    ["an error at once", `void (async () => { await null; throw new Error("soon"); })();`, "soon", 2],
    ["an error in a timer", `setTimeout(() => {\n  throw new Error("tick"); }, 5);`, "tick", 3],
    ["a file that is not there", `void Deno.readTextFile("none.txt");`, "No such file", 2],
  ])("fails for %s, with its line", async (_, code, message, line) => {
    const failing: ToolInvoker = {
      specificationVersion: "v1",
      async invoke(given, context): Promise<ToolResult> {
        if (given.tool !== "fail") return invoker.invoke(given, context);
        return { ok: false, error: { code: "TOOL_FAILED", message: "refused", details: {} } };
      },
    };
    const outcome = await session.run(`${CLIENT}${code}\nexport default 1;`, { invoker: failing });
    expect(outcome).toMatchObject({
      status: "failed",
      kind: "exception",
      error: { message: expect.stringContaining(message) as string, line },
    });
    expect(await session.value("export default 2")).toBe(2);
  });

  it("ends at the time limit with the value, if there is one, and says what it waited for", async () => {
    const never = recordingInvoker(({ tool, args }) => (tool === "never" ? new Promise(() => {}) : args));
    const code = `${CLIENT}void callTool("h", "t", 1);
void callTool("h", "never", 2);`;
    const options = { invoker: never, limits: { timeoutMs: 400 } };
    const unawaited = [{ kind: "call", server: "h", name: "never", line: 3, isStopped: true }];
    const silent = await session.run(code, options);
    expect(silent).toMatchObject({ status: "timed-out", limitMs: 400, unawaited });
    const outcome = await session.run(`${code}\nexport default { a: [1] };`, options);
    expect(outcome).toMatchObject({ status: "completed", value: { a: [1] }, unawaited });
    expect(session.kept).toBe(0);
  });

  it.each([
    ["at once", "await new Promise(() => {});"],
    ["after a call", `await callTool("h", "t");\nawait new Promise(() => {});`],
    ["after a timer", "await new Promise((go) => setTimeout(go, 5));\nawait new Promise(() => {});"],
    ["in an export", "export default () => new Promise(() => {});"],
    ["in a module", `import "data:text/javascript,await new Promise(() => {});";`],
    [
      "in an export, after other work",
      `setTimeout(() => console.log("tick"), 5);\nconst main = () => new Promise(() => {});\nconst all = [main];\nexport default main;`,
    ],
    [
      "with the runtime",
      `import fs from "node:fs/promises";\nawait fs.readdir(".");\nawait new Promise(() => {});`,
    ],
    [
      "for input",
      `import { createInterface } from "node:readline/promises";
const { stdin: input, stdout: output } = process;
console.log(await createInterface({ input, output }).question("Sure?"));`,
    ],
  ])("ends a program that waits where nothing can wake it, %s", async (_, code) => {
    const outcome = await session.run(`${CLIENT}${code}`, { invoker });
    expect(outcome).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("nothing can end any more") as string },
    });
    expect(await session.value("export default 2")).toBe(2);
  });

  it("ends such a program also after one that failed while its module waited", async () => {
    const waits = "Promise.reject(new Error('early')); await new Promise(() => {});";
    const early = await session.run(`import "data:text/javascript,${waits}";`);
    expect(early).toMatchObject({ status: "failed", error: { message: "early" } });
    expect(session.kept).toBe(1);
    const stuck = await session.run("await new Promise(() => {});");
    expect(stuck).toMatchObject({ status: "failed", error: { message: expect.stringContaining("end") } });
  });

  it("waits for no call that a full stack kept from being sent", async () => {
    const code = `${CLIENT}const all: Promise<unknown>[] = [];
const fill = (): void => {
  try { fill(); } catch {}
  if (all.length < 60) try { all[all.length] = callTool("h", "t", 1); } catch {}
};
fill();
return (await Promise.allSettled(all)).filter(({ status }) => status === "fulfilled").length;`;
    const { toolCalls, ...outcome } = await complete(code);
    expect(outcome).toMatchObject({ value: toolCalls.length });
    expect(toolCalls.length).toBeLessThan(60);
    expect(outcome.unawaited).toBeUndefined();
  });

  it.each([
    [`AbortSignal.timeout(40).addEventListener("abort", () => go(1))`],
    [
      `const { port1, port2 } = new MessageChannel(); port1.onmessage = () => { port1.close(); go(1); }; port2.postMessage(1)`,
    ],
    [`setTimeout(() => go(1), 40).unref()`],
    [`setTimeout(() => void callTool("h", "t", 1).then(go), 5)`],
    [`process.nextTick(go, 1)`],
    [`void Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50).value.then(() => go(1))`],
    [
      `void import("node:timers/promises").then((timers) => timers.setTimeout(50, 1, { ref: false })).then(go)`,
    ],
    [`crypto.subtle.digest("SHA-256", new Uint8Array(1)).then(() => callTool("h", "t", 1)).then(go)`],
  ])("does not end one that something wakes: %s", async (wake) => {
    const code = `${CLIENT}return await new Promise<number>((go) => { ${wake}; });`;
    expect(await session.value(code, { invoker })).toBe(1);
  });

  it("counts what an export does after other work as the program's own", async () => {
    const code = `${CLIENT}async function main() { return await callTool("h", "main", 1); }
void callTool("h", "background");
setTimeout(() => {}, 60_000);
const all = { main };
export default main;`;
    expect(await session.run(code, { invoker })).toMatchObject({
      status: "completed",
      value: 1,
      unawaited: [{ kind: "timer", isStopped: true }],
      toolCalls: [{ tool: "background" }, { tool: "main" }],
    });
  });

  it("does not keep an export waiting for work of the runtime that never ends", async () => {
    const code = `import fs from "node:fs";
const watcher = fs.watch(".");
function main() { watcher.close(); return 1; }
const all = { main };
export default main;`;
    expect(await session.value(code)).toBe(1);
  });

  it("does not wait after an error", async () => {
    const never = recordingInvoker(() => new Promise(() => {}));
    const outcome = await session.run(`${CLIENT}void callTool("h", "never");\nthrow new Error("end");`, {
      invoker: never,
    });
    expect(outcome).toMatchObject({ status: "failed", error: { message: "end", line: 3 } });
    expect(session.kept).toBe(1);
  });

  it("takes a last expression for the value, where it is data", async () => {
    const value = (code: string) => session.value(`${CLIENT}${code}`, { invoker });
    expect(await value(`await callTool("h", "t", { a: 1 })`)).toEqual({ a: 1 });
    expect(await value(`main();\nasync function main() { return callTool("h", "t", 3); }`)).toBe(3);
    expect(await value("1n;")).toBe(1);
    expect(await value(`[1, 2].map(async (n) => callTool("h", "t", n));`)).toEqual([1, 2]);
    const held = await session.run(`${CLIENT}const p = callTool("h", "t", 1);\n({ p });`, { invoker });
    expect(held).toMatchObject({
      status: "completed",
      output: expect.stringContaining("value.p is a promise") as string,
    });
    expect(await value(`const f = (): number => 4;\n(f() as number) + 1`)).toBe(5);
    for (const code of [
      "[1].forEach(() => {});",
      "setTimeout(() => {}, 1);",
      "(() => {});",
      "new URL('a:b');",
    ])
      expect(await value(code)).toBeUndefined();
    const outcome = await session.run("const a = 1;\n\n   missing.b;");
    expect(outcome).toMatchObject({ status: "failed", error: { line: 3, column: 4 } });
  });
}
