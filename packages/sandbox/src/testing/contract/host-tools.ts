import type { JsonValue, ToolInvoker } from "@cem/core";
import { expect, it } from "vitest";
import { GUEST_CLIENT_DECLARATIONS } from "../../guests/guest-boot.ts";
import { recordingInvoker, type Harness } from "./harness.ts";

/** The host tools of the contract's sandbox, by server. */
export const HOST_TOOLS = { crm: ["find_customer"], calculator: ["multiply"] };

/** Contract tests: tools on the host that have no file. */
export function hostToolsContract(harness: () => Harness): void {
  it("imports them like any other, and keeps a record of each call", async () => {
    const invoker = recordingInvoker(({ args }) => ({ got: args }));
    const code = `import { find_customer } from "./servers/crm/index.ts";
export default await find_customer({ name: "Ada" });`;
    const outcome = await harness().run(code, { invoker });
    expect(outcome).toMatchObject({ status: "completed", value: { got: { name: "Ada" } } });
    expect(invoker.calls).toEqual([{ server: "crm", tool: "find_customer", args: { name: "Ada" } }]);
    expect(outcome.toolCalls).toMatchObject([{ server: "crm", tool: "find_customer", ok: true }]);
  });

  it("finds them beside the tools of a file", async () => {
    const invoker = recordingInvoker(() => 6);
    const code = `import { add, multiply, version } from "./servers/calculator/index.ts";
import { addTwice } from "./skills/double_number/index.ts";
export default [await add({ a: 1, b: 1 }), await multiply({ a: 2, b: 3 }), version, await addTwice(4)];`;
    expect(await harness().value(code, { invoker })).toEqual([2, 6, "1.0", 8]);
  });

  it("takes the text of a request in place of a module's own, in that run only", async () => {
    const invoker = recordingInvoker(({ args }) => ({ got: args }));
    const url = "file:///workspace/servers/calculator/index.ts";
    const text = `export * from "${url}?own";
import { callTool } from "cem:client";
export const add = (...args) => callTool("calculator", "add", args[0]);`;
    const code = `import { add, version } from "./servers/calculator/index.ts";
import { addTwice } from "./skills/double_number/index.ts";
const again = await import("./servers/calculator/index.ts");
return [await add({ a: 1, b: 2 }), await again.add({ a: 3, b: 4 }), version, typeof addTwice];`;
    const replaced = [{ got: { a: 1, b: 2 } }, { got: { a: 3, b: 4 } }, "1.0", "function"];
    expect(await harness().value(code, { invoker, modules: { [url]: text } })).toEqual(replaced);
    expect(await harness().value(code, { invoker })).toEqual([3, 7, "1.0", "function"]);
  });

  it("gives them in place of what a module exports by their names", async () => {
    const invoker = recordingInvoker(() => "host");
    const text = 'export const multiply = () => "module", other = () => "other";';
    const code = `import * as all from "./servers/calculator/index.ts";
import { multiply, other } from "./servers/calculator/index.ts";
return [await all.multiply({}), all.other(), await multiply({}), other()];`;
    const modules = { "file:///workspace/servers/calculator/index.ts": text };
    const expected = ["host", "other", "host", "other"];
    expect(await harness().value(code, { invoker, modules })).toEqual(expected);
  });

  it("gives them to skills", async () => {
    const invoker = recordingInvoker(({ tool }) => tool);
    const code = `import { customerOf } from "./skills/uses_host/index.ts";\nexport default await customerOf("Ada");`;
    expect(await harness().value(code, { invoker })).toBe("find_customer");
  });

  it("says what there is when a name is wrong", async () => {
    const code = `import { find_custommer } from "./servers/crm/index.ts";\nexport default find_custommer;`;
    const outcome = await harness().run(code, {});
    expect(outcome).toMatchObject({
      status: "failed",
      error: { line: 1, message: expect.stringMatching(/It exports .{0,200}find_customer/) as string },
    });
    const server = await harness().run(
      `import { x } from "./servers/calculater/index.ts";\nexport default x;`,
      {},
    );
    expect(server).toMatchObject({
      error: { message: expect.stringMatching(/\.\/servers\/ has .{0,200}calculator/) as string },
    });
  });

  it("places a call that fails in the line that made it", async () => {
    const invoker: ToolInvoker = {
      specificationVersion: "v1",
      invoke: async () => ({
        ok: false,
        error: { code: "TOOL_FAILED", message: "no such person", details: {} },
      }),
    };
    const code = `import { find_customer } from "./servers/crm/index.ts";\n\nawait find_customer({});`;
    const outcome = await harness().run(code, { invoker });
    expect(outcome).toMatchObject({
      status: "failed",
      error: { line: 3, message: "crm.find_customer: no such person" },
    });
  });

  it("gives the program a client module with all that its declarations name", async () => {
    const declared = [...GUEST_CLIENT_DECLARATIONS.matchAll(/declare (?:function|class) (\w+)/g)].map(
      ([, name]) => name,
    );
    const code = `export default Object.keys(await import("./client/index.ts"));`;
    expect(await harness().value(code)).toEqual(expect.arrayContaining(declared));
    expect(declared.length).toBeGreaterThan(6);
  });

  it("offers what a server has besides tools", async () => {
    const invoker = recordingInvoker(({ tool, args }): JsonValue => {
      if (tool === "mcp:resources/read") return { contents: [{ uri: "a:b", text: JSON.stringify(args) }] };
      if (tool === "mcp:prompts/get") return { messages: [args] };
      const [, kind = ""] = tool.split(":");
      const names: Record<string, string> = {
        "resources/list": "resources",
        "resources/templates/list": "resourceTemplates",
        "prompts/list": "prompts",
      };
      return { [names[kind] ?? ""]: [kind] };
    });
    const code = `import * as client from "./client/index.ts";
export default [
  await client.listResources("s"), await client.listResourceTemplates("s"), await client.listPrompts("s"),
  await client.readResource("s", "a:b"), await client.getPrompt("s", "greet", { name: "Ada" }),
];`;
    expect(await harness().value(code, { invoker })).toEqual([
      ["resources/list"],
      ["resources/templates/list"],
      ["prompts/list"],
      [{ uri: "a:b", text: '{"uri":"a:b"}' }],
      { messages: [{ name: "greet", arguments: { name: "Ada" } }] },
    ]);
  });

  it("stops the clock while a person is waited for", async () => {
    const limits = { timeoutMs: 800 };
    const waiting = (ms: number): ToolInvoker => ({
      specificationVersion: "v1",
      async invoke(_call, { onWaiting }) {
        onWaiting?.(true);
        onWaiting?.(true);
        await new Promise((resolve) => setTimeout(resolve, ms));
        onWaiting?.(false);
        // The end of a call also ends its waiting.
        return { ok: true, value: 1 };
      },
    });
    const asks = `import { find_customer } from "./servers/crm/index.ts";\nawait find_customer({});`;
    const invoker = waiting(limits.timeoutMs + 100);
    expect(await harness().value(`${asks}\nexport default "answered";`, { invoker, limits })).toBe(
      "answered",
    );
    const after = await harness().run(`${asks}\nfor (;;) await new Promise((go) => setTimeout(go, 10));`, {
      invoker: waiting(1),
      limits,
    });
    expect(after.status).toBe("timed-out");
  });
}

/** A skill that uses a tool on the host. */
export const HOST_TOOL_FILES: Record<string, string> = {
  "skills/uses_host/index.ts": `import { find_customer } from "../../servers/crm/index.ts";
export async function customerOf(name: string): Promise<unknown> {
  return find_customer({ name });
}
`,
};
