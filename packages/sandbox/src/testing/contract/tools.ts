import { expect, it } from "vitest";
import { recordingInvoker, type Harness } from "./harness.ts";

const CLIENT = `import { callTool } from "cem:client";\n`;

/** Contract tests: tools in the guest and on the host. */
export function toolsContract(harness: () => Harness): void {
  it("runs tools that are files, and keeps a record and a sample of each call", async () => {
    const seen: string[] = [];
    const code = `import { add, version } from "./servers/calculator/index.ts";
import * as skill from "./skills/double_number/index.ts";
export default [await add({ a: 5, b: 3 }), skill.double(15), version];`;
    const outcome = await harness().run(code, { onToolCall: ({ tool }) => seen.push(tool) });
    expect(outcome).toMatchObject({
      status: "completed",
      value: [8, 30, "1.0"],
      toolCalls: [
        { server: "calculator", tool: "add", ok: true },
        { server: "double_number", tool: "double", ok: true },
      ],
      toolResults: [
        { characters: 1, sample: "8" },
        { characters: 2, sample: "30" },
      ],
    });
    expect(seen).toEqual(["add", "double"]);
  });

  it("keeps the record of a call whose arguments and result JSON can't carry whole", async () => {
    const code = `import { add } from "./servers/calculator/index.ts";
return String(await add({ a: NaN, b: 3 }));`;
    expect(await harness().run(code)).toMatchObject({
      value: "NaN",
      toolCalls: [{ args: '{"a":null,"b":3}' }],
      toolResults: [{ characters: 4, sample: "null" }],
    });
  });

  it.each(["servers/plain", "./servers/plain/index.mjs", "/workspace/servers/plain/index.ts"])(
    "runs tools in plain JavaScript, imported from %s",
    async (module) => {
      const code = `import { size } from "${module}"; export default await size("four");`;
      const toolCalls = [{ server: "plain", tool: "size", ok: true }];
      expect(await harness().run(code)).toMatchObject({ value: 4, toolCalls });
    },
  );

  it.each(["greet", "greet, shout"])("calls tools of generated files, imported as %s", async (names) => {
    const invoker = recordingInvoker(({ args }) => args);
    const code = `import { ${names} } from "./servers/made/index.ts";
const shout2 = ${names.includes("shout") ? "shout" : `(await import("./servers/made/index.ts")).shout`};
const wrong = await greet({ name: Symbol() }).catch((error) => [error.name, error.code, error.message.slice(0, 11)]);
return [await greet({ name: "Ann" }), await greet(), await shout2({ name: "Bob" }), greet.name, wrong];`;
    const outcome = await harness().run(code, { invoker });
    expect(outcome).toMatchObject({
      value: [
        { name: "Ann" },
        {},
        { name: "Bob", loud: true },
        "greet",
        ["ToolError", "TOOL_FAILED", "made.greet:"],
      ],
    });
    const call = (tool: string, args: object) => ({ server: "made", tool, args });
    expect(invoker.calls).toMatchObject([
      call("greet.v2", { name: "Ann" }),
      call("greet.v2", {}),
      call("shout", { name: "Bob", loud: true }),
    ]);
    expect(outcome.toolCalls).toHaveLength(3);
  });

  it("records each call once where no folder can have the server's name", async () => {
    const invoker = recordingInvoker(() => "pong");
    const code = `import * as all from "./servers/My-Server/index.ts";
import { ping } from "./servers/My-Server/index.ts";
return [await ping({}), await all.ping({})];`;
    const { toolCalls, toolResults } = await harness().run(code, { invoker });
    const call = expect.objectContaining({ server: "My Server!", tool: "ping", ok: true }) as object;
    expect(toolCalls).toEqual([call, call]);
    expect(toolResults).toHaveLength(2);
  });

  it("finds modules by every way to write their place", async () => {
    const code = `const paths = ["./servers/calculator/index.ts", "/workspace/servers/calculator/index.ts", "file:///workspace/servers/calculator/index.ts", "./servers/../servers/calculator/index.ts"];
let sum = 0;
for (const path of paths) sum += await (await import(path)).add({ a: 1, b: 0 });
return sum;`;
    expect(await harness().value(code)).toBe(4);
    const skill = `import { addTwice } from "./skills/double_number/index.ts";\nexport default await addTwice(4);`;
    expect(await harness().value(skill)).toBe(8);
  });

  it("records no call of a module that a program wrote, under whatever name it imports it", async () => {
    const text = "export async function pay() { return 'paid'; }";
    await harness().value(
      `await Deno.mkdir("fake", { recursive: true }); await Deno.writeTextFile("fake/index.ts", ${JSON.stringify(text)}); return 1;`,
    );
    const names = [
      "./servers/..%2ffake/index.ts",
      "./servers/bank%2f..%2f..%2ffake/index.ts",
      "./servers/..%5cfake/index.ts",
      "./servers/%2e%2e/fake/index.ts",
      "./servers/bank/../../fake/index.ts",
      "file:///workspace/servers/..%2Ffake/index.ts",
      "./fake/index.ts",
    ];
    const code = `const told = [];
for (const name of ${JSON.stringify(names)}) {
  try { told.push(await (await import(String(name))).pay()); } catch (error) { told.push(error.message.includes("can't be imported")); }
}
return told;`;
    const outcome = await harness().run(code);
    expect(outcome).toMatchObject({ value: [true, true, true, "paid", "paid", true, "paid"], toolCalls: [] });
  });

  it("records a call by the name of its folder, however that is encoded", async () => {
    const code = `return await (await import("./servers/calcul%61tor/index.ts")).add({ a: 1, b: 2 });`;
    const outcome = await harness().run(code);
    expect(outcome).toMatchObject({ value: 3, toolCalls: [{ server: "calculator", tool: "add" }] });
  });

  it("records a call that fails in the guest, and throws what a tool on the host does", async () => {
    const code = `import { divide } from "./servers/calculator/index.ts";
import { ToolError as same } from "./client/index.ts";
try { await divide({ a: 1, b: 0 }); } catch (error) {
  const { code, server, tool, message, cause, stack } = error;
  const { message: asJson, tries } = JSON.parse(JSON.stringify(Object.assign(error, { tries: 2 })));
  return [error instanceof ToolError && same === ToolError, code, server, tool, message, asJson, tries, cause instanceof RangeError, stack.split("\\n")[0]];
}`;
    const outcome = await harness().run(code);
    const message = "calculator.divide: division by zero";
    expect(outcome).toMatchObject({
      value: [
        true,
        "TOOL_FAILED",
        "calculator",
        "divide",
        message,
        message,
        2,
        true,
        `ToolError: ${message}`,
      ],
      toolCalls: [{ tool: "divide", ok: false }],
    });
  });

  it("takes calls to the host and their results back, recorded once", async () => {
    const invoker = recordingInvoker(({ args }) => ({ got: args }));
    const code = `import { echo } from "./servers/host/index.ts";\nexport default await echo({ deep: { list: [1n, "é", 2n ** 60n] } });`;
    const outcome = await harness().run(code, { invoker });
    const args = { deep: { list: [1, "é", "1152921504606846976"] } };
    expect(outcome).toMatchObject({ status: "completed", value: { got: args } });
    expect(invoker.calls).toEqual([{ server: "host", tool: "echo", args }]);
    expect(outcome.toolCalls).toMatchObject([{ server: "host", tool: "echo", ok: true }]);
  });

  it("records a call in the guest during which a call to the host could not be sent", async () => {
    const code = `${CLIENT}import { add } from "./servers/calculator/index.ts";
return await add({ a: 1, get b() { callTool("calculator", "t", () => 1).catch(() => {}); return 2; } });`;
    const outcome = await harness().run(code);
    expect(outcome).toMatchObject({ value: 3, toolCalls: [{ server: "calculator", tool: "add" }] });
  });

  it("lets calls to the host overlap", async () => {
    let release: (() => void) | undefined;
    const all = new Promise<void>((resolve) => {
      release = resolve;
    });
    let count = 0;
    const invoker = recordingInvoker(async () => {
      count += 1;
      if (count === 8) release?.();
      await all;
      return count;
    });
    const code = `${CLIENT}const all = await Promise.all(Array.from({ length: 8 }, () => callTool("host", "echo")));\nreturn all.length;`;
    expect(await harness().value(code, { invoker })).toBe(8);
  });

  it("gives a tool's error to the program, with its code", async () => {
    const invoker = {
      specificationVersion: "v1" as const,
      invoke: () =>
        Promise.resolve({
          ok: false as const,
          error: { code: "RATE_LIMITED", message: "slow down", details: { wait: 3 } },
        }),
    };
    const code = `import { fail } from "./servers/host/index.ts";
try { await fail(); } catch (error) { return [error.name, error.code, error.message, error.server, error.tool, error.details.wait]; }`;
    expect(await harness().value(code, { invoker })).toEqual([
      "ToolError",
      "RATE_LIMITED",
      "host.fail: slow down",
      "host",
      "fail",
      3,
    ]);
    const uncaught = `import { fail } from "./servers/host/index.ts";\n\nawait fail();`;
    const outcome = await harness().run(uncaught, { invoker });
    expect(outcome).toMatchObject({
      status: "failed",
      error: { name: "ToolError", message: "host.fail: slow down", line: 3 },
    });
  });

  it("gives what an invoker throws to the program as an error", async () => {
    const invoker = {
      specificationVersion: "v1" as const,
      invoke: () => Promise.reject(new Error("broken")),
    };
    const code = `${CLIENT}try { await callTool("a", "b"); } catch (error) { return error.message; }`;
    expect(await harness().value(code, { invoker })).toBe("a.b: broken");
  });

  it("says that there are no host tools where there are none", async () => {
    const code = `${CLIENT}try { await callTool("a", "b"); } catch (error) { return error.code; }`;
    expect(await harness().value(code)).toBe("TOOL_NOT_FOUND");
  });

  it("ends what is under way on the host when the run ends", async () => {
    let aborted = false;
    const invoker = recordingInvoker((_, signal) => {
      signal.addEventListener("abort", () => {
        aborted = true;
      });
      return new Promise(() => {});
    });
    const code = `${CLIENT}await callTool("host", "slow");`;
    const outcome = await harness().run(code, { invoker, limits: { timeoutMs: 300 } });
    expect(outcome).toMatchObject({ status: "timed-out", toolCalls: [{ tool: "slow", ok: false }] });
    expect(aborted).toBe(true);
  });

  it("refuses arguments that JSON can't carry, without a call", async () => {
    const invoker = recordingInvoker(() => 1);
    const code = `${CLIENT}const a: any = {}; a.self = a; let deep: any = 1; for (let i = 0; i < 1e5; i++) deep = [deep];
const tries = await Promise.allSettled([callTool("h", "t", a), callTool("h", "t", { n: () => 1 }), callTool("h", "t", deep)]);
return tries.map(({ reason }: any) => reason.name);`;
    expect(await harness().value(code, { invoker })).toEqual(["TypeError", "TypeError", "TypeError"]);
    expect(invoker.calls).toHaveLength(0);
  });

  it("calls a tool named like a part of the language only when the program does", async () => {
    const code = `import { then, toString, constructor } from "./servers/odd/index.ts";
return [await then({}), await toString({}), await constructor({})];`;
    const outcome = await harness().run(code);
    expect(outcome).toMatchObject({ status: "completed", value: ["then", "toString", "constructor"] });
    expect(outcome.toolCalls).toHaveLength(3);
  });
}

/** A server whose tools have awkward names. */
export const ODD_FILES: Record<string, string> = {
  "servers/odd/index.ts": `export async function then(_: object) { return "then"; }
export async function toString(_: object) { return "toString"; }
export async function constructor(_: object) { return "constructor"; }
`,
};
