import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { createDenoSandboxProvider } from "@cem/sandbox-deno";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it, vi } from "vitest";
import { makeProject, reference } from "../test/upstream-project.ts";
import type { Project } from "../test/upstream-project.ts";
import { generateTools } from "./admin.ts";
import { listSkills, promoteSkill, testSkill } from "./admin/extensions.ts";
import { createAgent, defineTool, runServer } from "./index.ts";
import type { Agent, AgentOptions } from "./index.ts";

/** Each test starts servers and sandboxes, perhaps on a busy machine. */
vi.setConfig({ testTimeout: 240_000 });

const tools = {
  crm: {
    find: defineTool({
      description: "Finds a customer.",
      input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      execute: async ({ name }) => ({ id: name }),
    }),
  },
};
const serversOf = ({ folder }: Project) => ({
  memory: { ...reference("memory"), env: { MEMORY_FILE_PATH: path.join(folder, "memory.jsonl") } },
});

async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), text);
  }
}

/** A project with the tools of a real MCP server, a tool in a file and one of the agent's own. */
async function open(options: AgentOptions = {}): Promise<{ project: Project; agent: Agent; source: object }> {
  const project = await makeProject();
  await writeFiles(project.folder, {
    "servers/calc/index.ts":
      "/** Adds. */\nexport async function add(input: { a: number; b: number }): Promise<number> {\n  return input.a + input.b;\n}\n",
  });
  const servers = serversOf(project);
  await generateTools(project.source(servers));
  const source = project.source(servers);
  const agent = createAgent({ ...source, tools, ...options });
  return { project, agent, source };
}

const COUNT = (module: string): string => `import { read_graph } from "${module}";
/** Counts what is in the graph. */
export async function count(): Promise<number> {
  return (await read_graph({})).entities.length;
}
`;
const testOf = (name: string): string =>
  `import { count } from "./skills/${name}/index.ts";\nreturn (await count()) === 0;`;
const use = (name: string): string =>
  `import { count } from "./skills/${name}/index.ts";\nreturn await count();`;

describe("skills that use tools of servers", () => {
  it.each(["auto", "permissions"] as const)(
    "are saved, tested and run with isolation %s, over tools of MCP servers, files, the host and other skills",
    async (isolation) => {
      const { agent } = await open({ sandboxProvider: createDenoSandboxProvider({ isolation }) });
      try {
        const saved = await agent.saveSkill({
          name: "graph",
          description: "Count the graph.",
          code: COUNT("./servers/memory/index.ts"),
          test: testOf("graph"),
        });
        expect(saved).toMatchObject({ status: "active", tools: ["memory.read_graph"] });
        const several = await agent.saveSkill({
          name: "several",
          description: "Put several together.",
          code: `import { add } from "servers/calc";
import { find } from "/workspace/servers/crm/index.ts";
import { count as counted } from "../../skills/graph/index.ts";
/** Puts together what several tools give. */
export async function count(): Promise<string> {
  const { read_graph } = await import("./servers/memory/index.ts");
  const { entities } = await read_graph({});
  return \`\${JSON.stringify(await find({ name: "Ada" }))}: \${await add({ a: entities.length, b: await counted() })}\`;
}
`,
          test: testOf("several").replace("=== 0", `=== '{"id":"Ada"}: 0'`),
        });
        expect(several.tools).toEqual(["calc.add", "graph.count", "crm.find"]);
        const ran = await agent.executeCode(use("several"));
        expect(ran).toMatchObject({ error: null, value: '{"id":"Ada"}: 0' });
        expect(ran.isolation?.level).toBe(isolation === "auto" ? "namespaces" : "permissions");
        expect(ran.toolCalls.map(({ server, tool, ok }) => [server, tool, ok])).toEqual([
          ["memory", "read_graph", true],
          ["crm", "find", true],
          ["memory", "read_graph", true],
          ["several", "count", true],
        ]);
      } finally {
        await agent.dispose();
      }
    },
  );

  it("are promoted, listed and tested", async () => {
    const { agent, source } = await open();
    const draft = { description: "Count the graph.", code: COUNT("./servers/memory/index.ts") };
    await agent.saveSkill({ ...draft, name: "kept", test: testOf("kept") }, { author: "model" });
    expect(await promoteSkill("kept", source)).toMatchObject({
      status: "active",
      tools: ["memory.read_graph"],
    });
    expect(await testSkill("kept", source)).toMatchObject({ name: "kept", changedTools: [] });

    expect((await listSkills(source)).map(({ name }) => name)).toEqual(["kept"]);
    expect(await agent.executeCode(use("kept"))).toMatchObject({ error: null, value: 0 });
    await agent.dispose();

    const running = await runServer({ ...source, transport: "http", port: 0 });
    const client = new Client({ name: "model", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
    const over = async (name: string, args: Record<string, unknown>) =>
      (await client.callTool({ name, arguments: args })).structuredContent;
    expect(await over("execute_code", { code: use("kept") })).toMatchObject({ success: true, result: 0 });
    const proposed = { ...draft, name: "proposed", test: testOf("proposed") };
    expect(await over("save_skill", proposed)).toMatchObject({
      status: "proposal",
      tools: ["memory.read_graph"],
    });
    expect(await client.callTool({ name: "get_skill", arguments: { name: "nope" } })).toMatchObject({
      isError: true,
      content: [{ text: 'There is no skill "nope". list_skills lists those that there are.' }],
    });
    await client.close();
    await running.close(0);
  });

  it("call only what the run may call, and ask where a program has to ask", async () => {
    const { project, agent } = await open();
    await agent.saveSkill({
      name: "keep",
      description: "Keep an entity.",
      code: `import { create_entities } from "./servers/memory/index.ts";
import { add } from "./servers/calc/index.ts";
/** Keeps an entity. */
export async function keep(name: string): Promise<number> {
  const { entities } = await create_entities({ entities: [{ name, entityType: "x", observations: [] }] });
  return add({ a: entities.length, b: 0 });
}
`,
      test: 'import { keep } from "./skills/keep/index.ts";\nreturn typeof keep === "function";',
    });
    const code = 'import { keep } from "./skills/keep/index.ts";\nreturn await keep("Ada");';
    const withTools = async (...allowedTools: string[]) => agent.executeCode(code, { allowedTools });
    expect((await withTools("keep.*")).error?.message).toContain(
      "keep.keep may not be called: it uses calc.add, and it is not among the tools of this run",
    );
    expect((await withTools("keep.*", "calc.*")).error?.details).toMatchObject({
      toolError: { code: "TOOL_NOT_ALLOWED" },
    });
    expect(await withTools("keep.*", "calc.*", "memory.*")).toMatchObject({ error: null, value: 1 });
    await agent.dispose();

    const asked: string[] = [];
    const careful = createAgent({
      ...project.source(serversOf(project), { guardrails: { approvals: ["memory.create_*"] } }),
      tools,
      onApprove: async ({ server, tool }) => (asked.push(`${server}.${tool}`), "no" as const),
    });
    const denied = await careful.executeCode(code);
    expect(denied.error?.details).toMatchObject({ toolError: { code: "NOT_APPROVED" } });
    expect(asked).toEqual(["memory.create_entities"]);
    await careful.dispose();
  });

  it("say which import is wrong, where one is gone, renamed or outside", async () => {
    const { project, agent } = await open();
    const wrong: Readonly<Record<string, [string, RegExp]>> = {
      renamed: [
        'import { read_grap } from "../../servers/memory/index.ts";\nread_grap;',
        /imports read_grap from "..\/..\/servers\/memory\/index.ts", which exports .*read_graph/u,
      ],
      gone: ['import "../../servers/gone/index.ts";', /gone\/index.ts", which does not exist/u],
      misplaced: [
        'import "./servers/memory/index.ts";',
        /From here, .* is ..\/..\/servers\/memory\/index.ts/u,
      ],
      above: ['import "../../../etc/x.ts";', /which lies outside/u],
      data: ['import "../../../etc/x.json";', /which lies outside/u],
      absolute: ['import "/etc/x.ts";', /which lies outside/u],
      host: [`import ${JSON.stringify(`${project.folder}/servers/calc/index.ts`)};`, /which lies outside/u],
      url: ['import "file:///etc/x.ts";', /which lies outside/u],
      beside: ['import "../../lib.ts";', /which lies outside/u],
      linked: ['import "./linked.ts";', /is a link that leads out of its folder/u],
    };
    await writeFiles(project.folder, {
      "outside.ts": "export {};",
      ...Object.fromEntries(
        Object.entries(wrong).map(([name, [code]]) => [
          `skills/${name}/index.ts`,
          `${code}\n/** Counts. */\nexport async function count(): Promise<number> {\n  return 0;\n}\n`,
        ]),
      ),
    });
    await symlink(
      path.join(project.folder, "outside.ts"),
      path.join(project.folder, "skills/linked/linked.ts"),
    );
    for (const [name, [, message]] of Object.entries(wrong)) {
      const { error } = await agent.executeCode(use(name));
      expect(error).toMatchObject({ code: "CODE_REFUSED", message: expect.stringMatching(message) });
    }
    await agent.dispose();
  });
});
