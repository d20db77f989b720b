import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import type { Agent, AuditEvent, ElicitRequest, JsonValue, TaskResult } from "@cem/core";
import { createMcpConnections, createMcpToolSource } from "@cem/mcp-client";
import type { McpConnections } from "@cem/mcp-client";
import { createResultStore } from "@cem/workspace";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { answering } from "../../mcp-client/fixtures/servers.ts";
import { hintFor } from "@cem/core/errors";
import { createAgent, defineTool } from "./index.ts";
import type { AgentOptions } from "./options.ts";

const SECRET = "key-5f1c9e7a2b";
const serversDir = path.resolve(import.meta.dirname, "../fixtures/servers");
const everything = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/dist/index.js",
);

let folder: string;
let workspaceDir: string;
let service: Server;
let connections: McpConnections;
let agent: Agent;
const requests: string[] = [];
const asked: ElicitRequest[] = [];

const tools = {
  crm: {
    find_customer: defineTool({
      description: "Find a customer of the shop by name.",
      input: z.object({ name: z.string().min(2), limit: z.number().int().default(3) }),
      execute: ({ name, limit }) => [{ name, plan: "pro", limit }],
    }),
  },
  lab: {
    measurements: defineTool({
      description: "Every measurement of the laboratory.",
      execute: () => ({ values: Array.from({ length: 200_000 }, (_, index) => index * 10) }),
    }),
    dot: defineTool({
      description: "Draw a dot as an image.",
      execute: () => ({ picture: new Blob([new Uint8Array([137, 80, 78, 71])], { type: "image/png" }) }),
    }),
    confirm: defineTool({
      description: "Ask the user to confirm.",
      async execute(_input, { elicit }) {
        const schema = { type: "object", properties: { sure: { type: "boolean" } } };
        return elicit({ message: "Are you sure?", requestedSchema: schema });
      },
    }),
    echo: defineTool({
      description: "Give back what it gets.",
      input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      execute: (input) => input,
    }),
    fail: defineTool({
      description: "Fail.",
      execute: (): never => {
        throw new Error("the lab is closed");
      },
    }),
  },
};

function newAgent(options: AgentOptions = {}): Agent {
  return createAgent({
    configFile: false,
    config: {
      execution: { workspaceDir, serversDir, skillsDir: path.join(folder, "skills") },
      optimizations: { toolCache: false, sandboxPooling: false },
    },
    tools,
    ...options,
  });
}

async function run(code: string, options?: Parameters<Agent["executeCode"]>[1]): Promise<TaskResult> {
  return agent.executeCode(code, options);
}

async function value(code: string): Promise<unknown> {
  const result = await run(code);
  expect(result.error).toBeNull();
  return result.value;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "cem-bridge-"));
  workspaceDir = path.join(folder, "workspace");
  await mkdir(workspaceDir);
  service = createServer((request, response) => {
    requests.push(`${request.url} ${request.headers.authorization}`);
    const refused = request.url?.includes("nobody") === true;
    response.writeHead(refused ? 403 : 200).end("99.5");
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  process.env["CRM_URL"] = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  process.env["CRM_API_KEY"] = SECRET;
  connections = createMcpConnections({
    servers: [
      { name: "everything", transport: { kind: "stdio", command: process.execPath, args: [everything] } },
      answering({ price: { type: "object", properties: { price: { type: "number" } } }, say: undefined }),
    ],
  });
  const store = createResultStore({ workspaceDir });
  agent = newAgent({
    invoker: createMcpToolSource(connections, { store }),
    async onElicit(question) {
      asked.push(question);
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      return { action: "accept", content: { sure: true } };
    },
  });
});

afterAll(async () => {
  await agent.dispose();
  await connections.close();
  service.closeAllConnections();
  service.close();
  delete process.env["CRM_URL"];
  delete process.env["CRM_API_KEY"];
  await rm(folder, { recursive: true, force: true });
});

describe("host tools", () => {
  it("given in code are called like any other, with what their schema makes of the arguments", async () => {
    const code = `import { find_customer } from "./servers/crm/index.ts";
export default await find_customer({ name: "Ada" });`;
    const result = await run(code);
    expect(result).toMatchObject({ status: "success", value: [{ name: "Ada", plan: "pro", limit: 3 }] });
    expect(result.toolCalls).toMatchObject([{ server: "crm", tool: "find_customer", ok: true }]);
  });

  it("are in the catalog, with signatures from their schemas, and are found by a task", async () => {
    const { servers, problems } = await agent.discoverTools();
    const crm = servers.find(({ name }) => name === "crm");
    expect(crm?.tools.map(({ signature }) => signature)).toEqual([
      expect.stringContaining("shout("),
      "find_customer(input: { name: string; limit?: number }): Promise<unknown>",
      "order_total(input: { customer: string }): Promise<{ customer: string; total: number }>",
    ]);
    expect(problems).toMatchObject([{ server: "crm", message: expect.stringContaining("exports no tool") }]);
    const result = await agent.executeTask('Find the customer named "Ada" in the shop');
    expect(result.toolCalls).toMatchObject([{ server: "crm", tool: "find_customer", ok: true }]);
  });

  it("in files use the network and a secret that the guest can't see, beside tools in the guest", async () => {
    const code = `import { order_total, shout } from "./servers/crm/index.ts";
const seen: unknown[] = [await order_total({ customer: "ada" }), await shout({ text: "ok" })];
for (const look of [
  () => process.env.CRM_API_KEY, () => Deno.env.get("CRM_API_KEY"), () => JSON.stringify(process.env),
  () => Deno.readTextFileSync("/proc/self/environ"), () => fetch(${JSON.stringify(process.env["CRM_URL"])}).then((r) => r.text()),
  () => Deno.readTextFileSync("./servers/crm/order_total.host.ts"), () => import("./servers/crm/order_total.host.ts").then(Object.keys),
]) try { seen.push(await look()); } catch (error) { seen.push("refused"); }
export default seen;`;
    const seen = (await value(code)) as unknown[];
    expect(seen.slice(0, 2)).toEqual([{ customer: "ada", total: 99.5 }, "OK"]);
    expect(requests).toContain(`/orders?customer=ada Bearer ${SECRET}`);
    expect(JSON.stringify(seen)).not.toContain(SECRET);
    expect(JSON.stringify(seen)).not.toContain("authorization");
    expect(requests).toHaveLength(1);
  });

  it("fail in the guest with their message, without secrets and without a stack", async () => {
    const code = `import { fail } from "./servers/lab/index.ts";
import { order_total } from "./servers/crm/index.ts";
const tries = await Promise.allSettled([fail(), order_total({ customer: "nobody" })]);
export default tries.map(({ reason }: any) => [reason.name, reason.code, reason.message, JSON.stringify(reason.details)]);`;
    expect(await value(code)).toEqual([
      ["ToolError", "TOOL_FAILED", "lab.fail: the lab is closed", '{"server":"lab","tool":"fail"}'],
      [
        "ToolError",
        "TOOL_FAILED",
        "crm.order_total: The service refused the key [redacted] (403).",
        '{"server":"crm","tool":"order_total"}',
      ],
    ]);
  });

  it("refuse wrong arguments by name, as an exception with the line", async () => {
    const code = `import { find_customer } from "./servers/crm/index.ts";\n\nexport default await find_customer({ name: "A" });`;
    // The bridge checks what types can't say, and what was not checked before.
    const { error } = await run(code);
    expect(error).toMatchObject({ code: "CODE_THREW", details: { line: 3 } });
    expect(error?.message).toContain("The arguments of crm.find_customer are not valid: `name`:");
    const misnamed = `import { echo } from "./servers/lab/index.ts";\nawait echo({ txt: "a" });`;
    expect((await run(misnamed)).error).toMatchObject({ code: "CODE_MISTYPED", details: { line: 2 } });
    const other = await run(misnamed, { typeCheck: "off" });
    expect(other.error?.message).toContain("`text` is missing; `txt` is not an argument");
  });

  it("get no key that changes how objects behave", async () => {
    const code = `import { echo } from "./servers/lab/index.ts";
const hostile = JSON.parse('{ "text": "a", "__proto__": { "admin": true }, "inner": { "__proto__": 1, "constructor": { "prototype": {} } } }');
export default Object.keys(await echo(hostile)) + JSON.stringify(await echo(hostile));`;
    expect(await value(code)).toBe('text,inner{"text":"a","inner":{}}');
  });

  it("ask the user without using up the run's time", async () => {
    const code = `import { confirm } from "./servers/lab/index.ts";\nexport default await confirm();`;
    const result = await run(code, { limits: { timeoutMs: 1_200 } });
    expect(result).toMatchObject({ status: "success", value: { action: "accept", content: { sure: true } } });
    expect(asked).toMatchObject([{ server: "lab", mode: "form", message: "Are you sure?" }]);
  });
});

describe("results", () => {
  it("that are large come whole, as a handle", async () => {
    const code = `import { measurements } from "./servers/lab/index.ts";
const handle: any = await measurements();
const { values } = await handle.json();
const page = await handle.page(0, 20);
export default { size: handle.size, sum: values.reduce((a: number, b: number) => a + b, 0), first: page.text, text: (await handle.text()).length, file: Deno.statSync(handle.path).size };`;
    const seen = (await value(code)) as Record<string, number>;
    expect(seen["size"]).toBeGreaterThan(1_400_000);
    expect(seen).toMatchObject({
      sum: 199_999_000_000,
      first: '{"values":[0,10,20,3',
      text: seen["size"],
      file: seen["size"],
    });
  });

  it("that are bytes of a host tool or of a real MCP server come as handles", async () => {
    const code = `import { dot } from "./servers/lab/index.ts";
import { callTool } from "./client/index.ts";
const { picture }: any = await dot();
const parts: any = await callTool("everything", "get-tiny-image", {});
const image = parts.find((part: any) => part.type === "image");
export default { picture, own: [...await picture.bytes()].length, image, png: String.fromCharCode(...(await image.bytes(1, 3))) };`;
    expect(await value(code)).toMatchObject({
      picture: {
        type: "image",
        mimeType: "image/png",
        size: 4,
        path: expect.stringContaining("/workspace/results/"),
      },
      own: 4,
      image: { type: "image", mimeType: "image/png" },
      png: "PNG",
    });
  });
});

describe("an MCP server behind the bridge", () => {
  it("is checked like host tools are", async () => {
    const code = `import { callTool } from "./client/index.ts";
const tries = await Promise.allSettled([callTool("everything", "get-sum", { a: 2, b: "3" }), callTool("everything", "get-sun", {}), callTool("crm", "find_customr", {})]);
export default [await callTool("everything", "get-sum", { a: 2, b: 3 }), ...tries.map(({ reason }: any) => reason.message)];`;
    expect(await value(code)).toEqual([
      "The sum of 2 and 3 is 5.",
      "The arguments of everything.get-sum are not valid: `b` must be a number, not a string.",
      expect.stringContaining('Did you mean "get-sum"?'),
      'crm.find_customr: Server "crm" has no tool "find_customr". Did you mean "find_customer"?',
    ]);
  });

  it("fails for a result that breaks its own output schema, and code may look at what came", async () => {
    const code = `import { callTool } from "./client/index.ts";
const result = { content: [], structuredContent: { price: "4.20" } };
try {
  await callTool("answering", "price", { result });
} catch (error: any) {
  return [error.code, error.message, error.details.place, Number(error.details.structuredContent.price)];
}`;
    expect(await value(code)).toEqual([
      "RESULT_INVALID",
      'answering.price answered, but its result does not fit its own output schema: `/price` must be a number, not a string: it is "4.20". It came as {"price":"4.20"}.',
      "/price",
      4.2,
    ]);
    const { error } = await run(code.replace("try {", "{").replace(/} catch[^]*/, "}"));
    expect(error).toMatchObject({ code: "CODE_THREW", details: { toolError: { code: "RESULT_INVALID" } } });
    expect(error === null ? undefined : hintFor(error)).toMatch(
      /^The call was made.* details\.structuredContent\.$/u,
    );
  });

  it("gives a text of a tool without an output schema as a text, unless it is an object or a list", async () => {
    const code = `import { callTool } from "./client/index.ts";
const say = (text: string) => callTool("answering", "say", { result: { content: [{ type: "text", text }] } });
return [await say("42"), await say("true"), await say('{"a":1}'), await say("[2]")];`;
    expect(await value(code)).toEqual(["42", "true", { a: 1 }, [2]]);
  });

  it("gives an image once that comes in the content and inside the structured content", async () => {
    const code = `import { callTool } from "./client/index.ts";
const image = { type: "image", data: btoa("picture"), mimeType: "image/png" };
const result = { content: [image], structuredContent: { shots: [image, image], plain: image.data } };
const value: any = await callTool("answering", "say", { result });
const paths = new Set([...value.shots, value.plain].map(({ path }: any) => path));
return [Object.keys(value), paths.size, new TextDecoder().decode(await value.plain.bytes())];`;
    expect(await value(code)).toEqual([["shots", "plain"], 1, "picture"]);
  });

  it("gives its resources and prompts", async () => {
    const code = `import { getPrompt, listPrompts, listResources, readResource } from "./client/index.ts";
const prompts: any = await listPrompts("everything");
const resources: any = await listResources("everything");
const [first]: any = await readResource("everything", resources[0].uri);
const { messages }: any = await getPrompt("everything", prompts[0].name);
export default [prompts.length > 1, resources.length > 1, typeof (first.text ?? first.path), messages.length > 0];`;
    expect(await value(code)).toEqual([true, true, "string", true]);
  });
});

describe("files of host tools", () => {
  it("are not run where code in the sandbox can write them", async () => {
    const inside = path.join(workspaceDir, "servers/evil");
    await mkdir(inside, { recursive: true });
    await writeFile(
      path.join(inside, "take_over.host.ts"),
      "globalThis.tookOver = true;\nexport default 1;\n",
    );
    const writable = newAgent({
      config: {
        execution: { workspaceDir, serversDir: path.dirname(inside) },
        optimizations: { toolCache: false, sandboxPooling: false },
      },
    });
    const { problems } = await writable.discoverTools();
    await writable.dispose();
    await rm(path.dirname(inside), { recursive: true });
    expect(problems).toMatchObject([{ message: expect.stringContaining("is not run on the host") }]);
    expect("tookOver" in globalThis).toBe(false);
  });

  it("given in code have names that can be imported", async () => {
    const named = newAgent({ tools: { crm: { "find-customer": tools.crm.find_customer } } });
    await expect(named.discoverTools()).rejects.toMatchObject({
      code: "TOOL_INVALID",
      message: expect.stringContaining("Call it find_customer."),
    });
  });
});

it("waits for the answer to a call that a program leaves, and has it in the result and the audit log", async () => {
  const audited: AuditEvent[] = [];
  const answer = Promise.withResolvers<JsonValue>();
  const began = Promise.withResolvers<JsonValue>();
  const transfer = (): Promise<JsonValue> => {
    began.resolve(true);
    return answer.promise;
  };
  const leaving = createAgent({
    cwd: folder,
    configFile: false,
    tools: {
      bank: {
        transfer: defineTool({ description: "Transfer money.", execute: transfer }),
        hear: defineTool({ description: "Hear of a transfer.", execute: () => began.promise }),
        watch: defineTool({
          description: "Watch the bank.",
          annotations: { readOnlyHint: true },
          execute: () => new Promise<JsonValue>(() => {}),
        }),
      },
    },
    audit: {
      specificationVersion: "v1",
      record(event) {
        audited.push(event);
        // The end of the program cancels a call that only reads.
        if ("tool" in event && event.tool === "watch") answer.resolve("done");
      },
    },
    config: { logging: { level: "CRITICAL" } },
  });
  try {
    const result = await leaving.executeCode(
      'import { hear, transfer, watch } from "./servers/bank/index.ts";\nvoid watch();\nvoid transfer();\nawait hear();\nthrow new Error("gone");',
    );
    expect(result.error?.message).toMatch(/gone$/u);
    expect(result.notes?.join()).toContain('bank.transfer({}) → "done"');
    const isTransfer = ({ tool }: { tool: string }): boolean => tool === "transfer";
    expect(result.toolCalls?.filter(isTransfer)).toMatchObject([{ ok: true }]);
    expect(result.notes?.join()).toContain("bank.watch({}) → cancelled");
    const calls = audited.filter((event) => event.type === "call" && isTransfer(event));
    expect(calls).toMatchObject([{ tool: "transfer", ok: true }]);
  } finally {
    await leaving.dispose();
  }
});
