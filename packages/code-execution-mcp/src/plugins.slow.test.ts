import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentEvent, McpTransportProvider } from "@cem/core";

type McpMessage = Parameters<Awaited<ReturnType<McpTransportProvider["connect"]>>["send"]>[0];
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { createAgent, definePlugin, defineTool } from "./index.ts";
import type { Agent, AgentOptions, GivenPlugin, Plugin, PluginParts } from "./index.ts";
import { createDenoSandboxProvider } from "./stages.ts";

const serversDir = fileURLToPath(new URL("../../../servers", import.meta.url));
const SPECIFICATION = { specificationVersion: "v1" } as const;

let folder: string;
const agents: Agent[] = [];

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "cem-plugins-"));
});
afterEach(async () => {
  await Promise.all(agents.splice(0).map((agent) => agent.dispose()));
  await rm(folder, { recursive: true, force: true });
});

function agentWith(
  plugins: readonly GivenPlugin[],
  config: AgentOptions["config"] = {},
  options: AgentOptions = {},
): Agent {
  const agent = createAgent({
    configFile: false,
    cwd: folder,
    plugins,
    onLog: () => {},
    ...options,
    config: {
      ...config,
      execution: {
        workspaceDir: path.join(folder, "workspace"),
        serversDir,
        skillsDir: folder,
        ...config.execution,
      },
      optimizations: { sandboxPooling: false, ...config.optimizations },
    },
  });
  agents.push(agent);
  return agent;
}

function plugin(name: string, parts: PluginParts | (() => PluginParts | Promise<PluginParts>)): Plugin {
  const setup = typeof parts === "function" ? parts : () => parts;
  return definePlugin({ ...SPECIFICATION, name, version: "1.0.0", setup });
}

const greet = defineTool({
  description: "Greets somebody by name.",
  input: z.object({ name: z.string() }),
  execute: ({ name }) => `Hello ${name}`,
});
const GREET = 'import { greet } from "./servers/greeter/index.ts";\nreturn await greet({ name: "Ada" });';

describe("what a plugin adds", () => {
  it("tools are called like others, with their arguments checked", async () => {
    const agent = agentWith([plugin("p", { tools: { greeter: { greet } } })]);
    expect(await agent.executeCode(GREET)).toMatchObject({ value: "Hello Ada", error: null });
    const wrong = await agent.executeCode(GREET.replace('"Ada"', "7 as never"));
    expect(wrong.error?.message).toContain("name");
    const { servers } = await agent.discoverTools();
    expect(servers.find(({ name }) => name === "greeter")?.tools.map(({ name }) => name)).toEqual(["greet"]);
  });

  it("is given variables of .env after a yes to the folder", async () => {
    await writeFile(path.join(folder, ".env"), "GREETING=Salut\n");
    const seen = async (options: AgentOptions): Promise<string | undefined> => {
      let value: string | undefined;
      const looking = definePlugin({
        ...SPECIFICATION,
        name: "looking",
        version: "1.0.0",
        setup: (_options, context) => {
          value = context.variable("GREETING");
          return {};
        },
      });
      await agentWith([looking], {}, options).discoverTools();
      return value;
    };
    expect([await seen({}), await seen({ trustFolder: true })]).toEqual([undefined, "Salut"]);
  });

  it("tools obey what the configuration blocks", async () => {
    const agent = agentWith([plugin("p", { tools: { greeter: { greet } } })], {
      guardrails: { blockedTools: ["greeter.*"] },
    });
    expect((await agent.executeCode(GREET)).status).not.toBe("success");
  });

  it("detectors find values that no model sees", async () => {
    const agent = agentWith([plugin("p", { detectors: [{ type: "EMPLOYEE_ID", pattern: /\bE\d{6}\b/ }] })]);
    const { value } = await agent.executeCode('return { who: "E123456", rows: ["E654321", "no"] };');
    expect(JSON.stringify(value)).not.toMatch(/E\d{6}/);
    expect(JSON.stringify(value)).toContain("EMPLOYEE_ID");
  });

  it("guards refuse, and can't allow what another refused", async () => {
    const seen: string[] = [];
    const allowing = plugin("allowing", {
      guards: [
        { ...SPECIFICATION, review: async ({ code }) => (seen.push(code), { allowed: true, findings: [] }) },
      ],
    });
    const refusing = plugin("refusing", {
      guards: [
        {
          ...SPECIFICATION,
          review: async ({ code }) => ({
            allowed: !code.includes("forbidden"),
            findings: code.includes("forbidden")
              ? [{ rule: "words", severity: "error", message: "A word that is not said here." }]
              : [],
          }),
        },
      ],
    });
    const agent = agentWith([refusing, allowing], { guardrails: { blockedPatterns: ["secretWord"] } });
    expect(await agent.executeCode('return "fine";')).toMatchObject({ status: "success" });
    const refused = await agent.executeCode('return "forbidden";');
    expect(refused).toMatchObject({ status: "refused" });
    expect(JSON.stringify(refused.error)).toContain("refusing/words");
    expect((await agent.executeCode('return "secretWord";')).status).toBe("refused");
    expect(seen).toHaveLength(1);
  });

  it("a generator writes code, and one that refuses passes the task on", async () => {
    const generating = plugin("generating", {
      generators: [
        {
          ...SPECIFICATION,
          async generate({ task }) {
            if (!task.includes("poem")) return { status: "refused", steps: [] };
            return { status: "generated", code: 'return "a poem";', origin: "llm", uses: [] };
          },
        },
      ],
    });
    const agent = agentWith([generating]);
    const poem = await agent.executeTask("Write a poem");
    expect(poem).toMatchObject({ value: "a poem", error: null });
    expect(poem.notes).toContain("written by the plugin generating");
    expect(await agent.executeTask("Add 2 and 3")).toMatchObject({ status: "success", origin: "rules" });
  });

  it("a selector picks tools of the catalog alone, and one that picks none passes on", async () => {
    const selecting = plugin("selecting", {
      selectors: [
        {
          ...SPECIFICATION,
          async select({ task, tools }) {
            const divide = tools.find(({ name }) => name === "divide");
            if (divide === undefined || !task.startsWith("Divide")) return { selected: [], nearest: [] };
            const invented = { ...divide, name: "invented" };
            const ranked = [divide, invented].map((tool) => ({ tool, score: 1, reason: "always" }));
            return { selected: ranked, nearest: [] };
          },
          search: async () => [],
        },
      ],
    });
    const agent = agentWith([selecting]);
    const divided = await agent.executeTask("Divide 6 by 3");
    expect(divided.selectedTools.map(({ tool }) => tool)).toEqual(["divide"]);
    expect(divided.selectionNotes).toContain("by the plugin selecting");
    const added = await agent.executeTask("Add 2 and 3");
    expect(added.selectedTools.map(({ tool }) => tool)).toContain("add");
  });

  it("a sandbox runs code where the configuration names it", async () => {
    const made: string[] = [];
    const deno = createDenoSandboxProvider({ standby: 0 });
    const own = {
      ...SPECIFICATION,
      name: "own",
      probe: deno.probe.bind(deno),
      create: (spec: Parameters<typeof deno.create>[0]) => (made.push(spec.workspaceDir), deno.create(spec)),
    };
    const agent = agentWith([plugin("p", { sandboxes: [own] })], { execution: { sandboxType: "own" } });
    expect(await agent.executeCode("return 1 + 1;")).toMatchObject({ value: 2 });
    expect(made).toHaveLength(1);
  });

  it("a sandbox that nobody has brought is an error, and no other is taken", async () => {
    const agent = agentWith([plugin("p", {})], { execution: { sandboxType: "nowhere" } });
    await expect(agent.executeCode("return 1;")).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
  });

  it("listeners get copies of events, with tokens in place of values", async () => {
    const events: AgentEvent[] = [];
    const listening = plugin("p", {
      onEvent(event) {
        events.push(structuredClone(event));
        if (event.type === "finished") event.result.value = "changed";
      },
    });
    const agent = agentWith([listening]);
    const { value } = await agent.executeCode('return "ada@example.com";');
    await vi.waitFor(() => expect(events.at(-1)?.type).toBe("finished"), { timeout: 30_000 });
    expect(JSON.stringify(events)).not.toContain('ada@example.com"}');
    expect(value).not.toBe("changed");
    const last = events.at(-1);
    expect(last?.type === "finished" && last.result.value).toEqual(value);
  });

  it("a transport connects to MCP servers by the scheme of their URL", async () => {
    const urls: string[] = [];
    const transport = {
      ...SPECIFICATION,
      scheme: "memory",
      connect({ url }: { url: string }) {
        urls.push(url);
        const connection = {
          onmessage: undefined as ((message: McpMessage) => void) | undefined,
          onclose: undefined as (() => void) | undefined,
          start: async () => {},
          async close() {
            connection.onclose?.();
          },
          async send(message: McpMessage) {
            const results: Record<string, Record<string, unknown>> = {
              initialize: {
                protocolVersion: "2025-06-18",
                capabilities: { tools: {} },
                serverInfo: { name: "memory", version: "1" },
              },
              "tools/list": { tools: [{ name: "ping", inputSchema: { type: "object" } }] },
              "tools/call": { content: [{ type: "text", text: "pong" }] },
            };
            if (!("method" in message) || !("id" in message)) return;
            const result = results[message.method];
            if (result === undefined) return;
            connection.onmessage?.({ jsonrpc: "2.0", id: message.id, result });
          },
        };
        return connection;
      },
    };
    const options = {
      configFile: false as const,
      cwd: folder,
      trustFolder: true,
      plugins: [plugin("p", { transports: [transport] })],
      config: {
        execution: { workspaceDir: path.join(folder, "w"), serversDir: path.join(folder, "servers") },
        mcpServers: [{ name: "far", url: "memory://there" }],
      },
    };
    const agent = createAgent({ ...options, onLog: () => {} });
    agents.push(agent);
    const { generateTools } = await import("./index.ts");
    await generateTools({ ...options, onLog: () => {} });
    const result = await agent.executeCode(
      'import { callTool } from "./client/index.ts";\nreturn await callTool("far", "ping", {});',
    );
    expect(urls[0]).toBe("memory://there");
    expect(result).toMatchObject({ value: "pong" });
  });
});

describe("options of a plugin", () => {
  const counting = definePlugin({
    ...SPECIFICATION,
    name: "counting",
    version: "1.0.0",
    options: z.strictObject({ start: z.number().default(40) }),
    setup: ({ start }) => ({
      tools: { counter: { next: defineTool({ description: "Counts.", execute: () => start + 1 }) } },
    }),
  });
  const NEXT = 'import { next } from "./servers/counter/index.ts";\nreturn await next({});';

  it("are checked by its schema, and have its defaults", async () => {
    expect(await agentWith([counting]).executeCode(NEXT)).toMatchObject({ value: 41 });
    const given = agentWith([{ plugin: counting, options: { start: 1 } }]);
    expect(await given.executeCode(NEXT)).toMatchObject({ value: 2 });
  });

  it("that are wrong leave the plugin out and are named", async () => {
    const agent = agentWith([{ plugin: counting, options: { start: "x", begin: 2 } }]);
    const { warnings, value } = await agent.executeCode("return 1;");
    expect(value).toBe(1);
    expect(warnings?.join()).toMatch(/options of the plugin counting are wrong: .*start.*begin/);
  });

  it("are refused where it takes none", async () => {
    const agent = agentWith([{ plugin: plugin("none", {}), options: { a: 1 } }]);
    expect((await agent.executeCode("return 1;")).warnings?.join()).toContain("none takes no options");
  });
});

const throws = (): never => {
  throw new Error("oh");
};
const rejects = (): Promise<never> => Promise.reject(new Error("oh"));

describe("a plugin that fails", () => {
  const review = (name: string, done: () => unknown): Plugin =>
    plugin(name, { guards: [{ ...SPECIFICATION, review: done as never }] });
  const detect = (name: string, find: () => unknown): Plugin =>
    plugin(name, { detectors: [{ type: "BAD", find: find as never }] });
  const broken: [what: string, plugin: unknown, named: RegExp][] = [
    ["is no plugin", "text", /plugin given in code is not valid/],
    [
      "is of another version",
      { ...plugin("old", {}), specificationVersion: "v0" },
      /old is made for version "v0".*has v1/,
    ],
    [
      "says no version",
      { name: "vague", version: "1", setup: () => ({}) },
      /vague is not valid: it has no specificationVersion/,
    ],
    [
      "has no setup",
      { ...SPECIFICATION, name: "idle", version: "1" },
      /idle is not valid: it has no function setup/,
    ],
    ["throws when it is set up", plugin("p1", throws), /p1 can't be set up: oh/],
    ["rejects when it is set up", plugin("p2", rejects), /p2 can't be set up: oh/],
    ["returns nothing", plugin("p3", (() => undefined) as never), /setup of the plugin p3 can't be used/],
    [
      "adds what plugins can't",
      plugin("p4", { guard: [] } as never),
      /guard of the plugin p4.*Did you mean guards/,
    ],
    ["adds a list that is none", plugin("p5", { guards: {} } as never), /guards of the plugin p5.*list/],
    [
      "adds a port of another version",
      plugin("p6", { guards: [{ specificationVersion: "v2", review() {} }] } as never),
      /guards\[0\] of the plugin p6/,
    ],
    [
      "adds a tool that is none",
      plugin("p7", { tools: { a: { b: () => 1 } } } as never),
      /tools\.a\.b of the plugin p7/,
    ],
    [
      "adds a tool with a name that no function has",
      plugin("p8", { tools: { a: { "b c": greet } } }),
      /tool a\.b c of the plugin p8/,
    ],
    [
      "takes a server that is there",
      plugin("p9", { tools: { calculator: { add: greet } } }),
      /server calculator of the plugin p9 is left out/,
    ],
    ["has the name of another", plugin("good", {}), /has the name good, as has good before it/],
    ["has a guard that throws", review("p10", throws), /guard of the plugin p10 failed: oh/],
    ["has a guard that rejects", review("p11", rejects), /guard of the plugin p11 failed: oh/],
    ["has a guard without a verdict", review("p12", () => 7), /guard of the plugin p12 can't be used/],
    [
      "has a selector that rejects",
      plugin("p13", { selectors: [{ ...SPECIFICATION, select: rejects, search: rejects }] }),
      /selector of the plugin p13 failed/,
    ],
    [
      "has a generator without code",
      plugin("p14", { generators: [{ ...SPECIFICATION, generate: async () => ({}) as never }] }),
      /generator of the plugin p14 can't be used/,
    ],
    [
      "has a detector that throws",
      detect("p15", throws),
      /detector BAD of the plugin p15 can't be used: it threw oh/,
    ],
    [
      "finds what is not there",
      detect("p16", () => [{ start: -1, end: 9e9 }, null]),
      /detector BAD of the plugin p16 can't be used/,
    ],
    [
      "has a listener that throws",
      plugin("p19", { onEvent: throws }),
      /event listener of the plugin p19 failed: oh/,
    ],
    [
      "has a listener that rejects",
      plugin("p20", { onEvent: rejects }),
      /event listener of the plugin p20 failed: oh/,
    ],
    ["needs a name to be free", plugin("@wrong name", {}), /@wrong name is not valid: its name/],
  ];
  const notes = new Set<string>();

  it("leaves the rest as it is, however many there are", async () => {
    const good = plugin("good", { tools: { greeter: { greet } } });
    const agent = agentWith([good, ...broken.map(([, one]) => one as Plugin)]);
    await agent.executeCode(`return ${JSON.stringify(`${"word ".repeat(20)}!`)};`);
    expect(await agent.executeTask("Add 2 and 3")).toMatchObject({ status: "success" });
    expect(await agent.executeCode(GREET)).toMatchObject({ value: "Hello Ada", error: null });
    await vi.waitFor(
      async () => {
        // Listeners get events a little later.
        for (const note of (await agent.executeCode("return 1;")).warnings ?? []) notes.add(note);
        expect([...notes].join("\n")).toMatch(/listener of the plugin p20/);
      },
      { timeout: 30_000 },
    );
  });

  it.each(broken)("and %s is named", (_, _plugin, named) => {
    expect([...notes].join("\n")).toMatch(named);
  });

  it("keeps everything from running where it is required", async () => {
    const broken = plugin("needed", () => {
      throw new Error("no luck");
    });
    const agent = agentWith([{ plugin: broken, required: true }]);
    await expect(agent.executeCode("return 1;")).rejects.toMatchObject({ code: "PLUGIN_FAILED" });
    const guarding = review("needed", rejects);
    const guarded = agentWith([{ plugin: guarding, required: true }]);
    expect((await guarded.executeCode("return 1;")).status).toBe("refused");
    const detecting = detect("needed", throws);
    const detected = agentWith([{ plugin: detecting, required: true }]);
    await expect(detected.executeCode('return "some text";')).rejects.toMatchObject({
      code: "PLUGIN_FAILED",
    });
  });
});

describe("plugins", () => {
  it("are loaded in their order, and a name belongs to the first that has it", async () => {
    const other = defineTool({
      description: "Greets too.",
      input: z.object({ name: z.string() }),
      execute: () => "no",
    });
    const order: string[] = [];
    const tracked = (name: string, parts: PluginParts) => plugin(name, () => (order.push(name), parts));
    const agent = agentWith([
      tracked("one", { tools: { greeter: { greet } } }),
      tracked("two", { tools: { greeter: { greet: other } } }),
    ]);
    const result = await agent.executeCode(GREET);
    expect(result.value).toBe("Hello Ada");
    expect(result.warnings?.join()).toContain(
      "The server greeter of the plugin two is left out: the plugin one has one of this name.",
    );
    expect(order).toEqual(["one", "two"]);
  });

  it("free what they hold with their agent", async () => {
    const freed: string[] = [];
    const agent = agentWith([plugin("p", { dispose: () => void freed.push("p") })]);
    await agent.executeCode("return 1;");
    await agent.dispose();
    await agent.dispose();
    expect(freed).toEqual(["p"]);
  });

  it("come from files, TypeScript too, with options of the configuration", async () => {
    await writeFile(
      path.join(folder, "mine.ts"),
      `import { definePlugin, defineTool } from "code-execution-mcp";
import { word } from "./word.ts";
type Options = { name: string };
export default definePlugin({
  specificationVersion: "v1", name: "mine", version: "2.0.0",
  options: { "~standard": { version: 1, vendor: "own", validate: (value: unknown) => ({ value: value as Options }) } },
  setup: (options) => ({ tools: { mine: { say: defineTool({ description: "Says.", execute: () => word + (options as Options).name }) } } }),
});`,
    );
    await writeFile(path.join(folder, "word.ts"), 'export const word: string = "Hi ";');
    const agent = agentWith([], { plugins: [{ plugin: "./mine.ts", options: { name: "Bo" } }] });
    const code = 'import { say } from "./servers/mine/index.ts";\nreturn await say({});';
    expect(await agent.executeCode(code)).toMatchObject({ value: "Hi Bo" });
  });

  it("that code in the sandbox can write are not loaded", async () => {
    const agent = agentWith([], {
      plugins: ["./workspace/evil.ts"],
      execution: { workspaceDir: path.join(folder, "workspace") },
    });
    await agent
      .executeCode(
        'await Deno.writeTextFile("/workspace/evil.ts", "globalThis.evil = true; export default 1;");',
      )
      .catch(() => {});
    const again = agentWith([], { plugins: ["./workspace/evil.ts"] });
    await writeFile(path.join(folder, "workspace", "evil.ts"), "globalThis.evil = true; export default 1;");
    expect((await again.executeCode("return 1;")).warnings?.join()).toContain(
      "Code in the sandbox can write to",
    );
    expect((globalThis as { evil?: boolean }).evil).toBeUndefined();
  });
});
