import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { COMPILE_CACHE, makeProject } from "../test/upstream-project.ts";
import type { Project } from "../test/upstream-project.ts";
import { generateTools } from "./admin.ts";
import { createAgent, runServer } from "./index.ts";
import type { AgentOptions, ConfigInput } from "./index.ts";
import { openWorkflows } from "./workflows.ts";

/** Each test starts servers and sandboxes, perhaps on a busy machine. */
vi.setConfig({ testTimeout: 240_000 });

const fixture = fileURLToPath(new URL("../../mcp-client/fixtures/login-server.ts", import.meta.url));
type Servers = NonNullable<ConfigInput["mcpServers"]>;

async function open(more: object = {}): Promise<{ project: Project; servers: Servers }> {
  const project = await makeProject();
  const servers: Servers = {
    accounts: { command: process.execPath, args: [fixture], env: { ...COMPILE_CACHE }, ...more },
  };
  await generateTools(project.source(servers));
  return { project, servers };
}

function agentOf({ project, servers }: { project: Project; servers: Servers }, options: AgentOptions = {}) {
  const agent = createAgent({ ...project.source(servers), ...options });
  onTestFinished(() => agent.dispose());
  return agent;
}

const IMPORT = 'import { login, wait, whoami } from "./servers/accounts/index.ts";\n';
const program = (body: string): string => `${IMPORT}${body}`;
const WAIT = program("return await wait({ ms: 200 });");

describe("a stateful server over stdio", () => {
  it.each([{ session: "ada" }, {}])("is one process for a program's calls at once: %j", async (options) => {
    const agent = agentOf(await open());
    const ran = await agent.executeCode(
      program(`await login({ name: "ada" });
const all = await Promise.all([whoami({}), wait({ ms: 50 }), wait({ ms: 50 }), wait({ ms: 50 }), whoami({})]);
return { users: all.map(({ user }) => user), pids: new Set(all.map(({ pid }) => pid)).size, most: all[2].mostAtOnce };`),
      { onElicit: async () => ({ action: "decline" }), ...options },
    );
    expect(ran).toMatchObject({
      error: null,
      value: { users: ["ada", "ada", "ada", "ada", "ada"], pids: 1, most: 3 },
    });
  });

  it("is one process for a session's runs at once, and another for another session", async () => {
    const agent = agentOf(await open());
    const run = async (session: string, code: string) => {
      const { error, value } = await agent.executeCode(code, {
        session,
        onElicit: async () => ({ action: "decline" }),
      });
      expect(error).toBeNull();
      return value as { user: string; pid: number };
    };
    await run("one", program('return await login({ name: "ada" });'));
    await run("two", program('return await login({ name: "bob" });'));
    const ran = await Promise.all([run("one", WAIT), run("one", WAIT), run("two", WAIT), run("one", WAIT)]);
    expect(ran.map(({ user }) => user)).toEqual(["ada", "ada", "bob", "ada"]);
    expect(new Set(ran.map(({ pid }) => pid)).size).toBe(2);
  });

  it("is one process for a workflow's steps at once, whatever guardrails they have", async () => {
    const { project, servers } = await open();
    const workflows = await openWorkflows(project.source(servers));
    onTestFinished(() => workflows.dispose());
    const wait = { type: "tool_call", config: { server: "accounts", tool: "wait", arguments: { ms: 100 } } };
    const workflow = {
      name: "accounts",
      steps: [
        {
          name: "login",
          type: "tool_call",
          config: { server: "accounts", tool: "login", arguments: { name: "ada" } },
        },
        { ...wait, name: "one", needs: ["login"] },
        { ...wait, name: "two", needs: ["login"] },
        {
          ...wait,
          name: "guarded",
          needs: ["login"],
          guardrails: { blocked_tools: ["other.*"] },
        },
        {
          name: "three",
          type: "loop",
          needs: ["login"],
          config: { items: [1, 2, 3], parallel: 3, steps: [{ ...wait, name: "each" }] },
        },
        {
          name: "code",
          type: "code_execution",
          needs: ["login"],
          config: { code: program("return await Promise.all([whoami({}), whoami({})]);") },
        },
      ],
    };
    const ended = await workflows.run(workflow);
    expect(ended.error).toBeNull();
    const text = JSON.stringify(ended.outputs);
    expect(new Set(text.match(/"pid":\d+/gu)).size).toBe(1);
    expect(text.match(/"user":"ada"/gu)).toHaveLength(9);
  });

  it.each(["legacy", { pin: "2026-07-28" }] as const)(
    "is one process for each client of the server: %j",
    async (mode) => {
      const { project, servers } = await open();
      const running = await runServer({
        ...project.source(servers, { logging: { level: "ERROR" } }),
        transport: "http",
        port: 0,
      });
      onTestFinished(() => running.close(0));
      const connect = async (name: string) => {
        const client = new Client({ name, version: "1" }, { versionNegotiation: { mode } });
        await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
        onTestFinished(() => client.close());
        return async (body: string) => {
          const answer = await client.callTool({ name: "execute_code", arguments: { code: program(body) } });
          return (
            answer.structuredContent as { result: { user: string; pid: number; from: number; to: number } }
          ).result;
        };
      };
      const [ada, bob] = await Promise.all([connect("ada"), connect("bob")]);
      // Without a session, a client has the process of another after the other's run.
      const overlapping = async () => {
        for (;;) {
          const [first, second] = await Promise.all(
            [ada, bob].map((run, index) =>
              run(
                `await login({ name: "${["ada", "bob"][index]}" });\nconst from = Date.now();\nawait new Promise((resolve) => setTimeout(resolve, 500));\nconst all = await Promise.all([wait({ ms: 50 }), whoami({})]);\nreturn { user: all.map(({ user }) => user).join(), pid: all[1].pid, from, to: Date.now() };`,
              ),
            ),
          );
          if (first && second && first.from < second.to && second.from < first.to) return [first, second];
        }
      };
      const [first, second] = await overlapping();
      expect([first?.user, second?.user]).toEqual(["ada,ada", "bob,bob"]);
      expect(first?.pid).not.toBe(second?.pid);
      if (mode !== "legacy") return;
      const later = await Promise.all([
        ada("return await whoami({});"),
        ada("return await wait({ ms: 50 });"),
      ]);
      expect(later.map(({ user, pid }) => [user, pid])).toEqual([
        ["ada", first?.pid],
        ["ada", first?.pid],
      ]);
    },
  );
});
