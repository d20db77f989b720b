import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { connectHttp, firstText } from "../../fixtures/clients.ts";
import { createRealAgent } from "../../fixtures/real-agent.ts";
import { quietLogger, servesInTests } from "../../fixtures/serve.ts";
import { createAgentServer, customTool, serveHttp } from "../index.ts";
import type { AgentServerSettings, HttpServing } from "../index.ts";

const { agent, close } = createRealAgent();
const serve = servesInTests(agent);
let serving: HttpServing;
let client: Client;

const echo = customTool({
  name: "echo",
  description: "Says it again.",
  inputSchema: z.object({ words: z.string(), loudness: z.enum(["low", "high"]).optional() }),
  handler: ({ words }) => words,
});
const open = customTool({
  name: "open",
  description: "Takes anything.",
  inputSchema: z.looseObject({ words: z.string() }),
  handler: (input) => Object.keys(input).join(" "),
});

beforeAll(async () => {
  const server = createAgentServer({
    agent,
    guest: { network: "none", timeoutMs: 60_000 },
    customTools: [echo, open],
  });
  serving = await serveHttp(server, { port: 0, logger: quietLogger });
  client = await connectHttp(serving.url, "modern");
});

afterAll(async () => {
  await client?.close();
  await serving?.close();
  await close();
});

const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });

async function descriptionOf(name: string, settings: Partial<AgentServerSettings>): Promise<string> {
  const { url } = await serve({}, settings);
  const other = await connectHttp(url, "legacy");
  const { tools } = await other.listTools();
  await other.close();
  return tools.find((tool) => tool.name === name)?.description ?? "";
}

describe("tool descriptions", () => {
  it("is how to work here, by the tools that there are", async () => {
    expect(client.getInstructions()).toMatch(/search_tools .* execute_code /u);
    const { url } = await serve({}, { profile: "original" });
    const other = await connectHttp(url, "legacy");
    expect(other.getInstructions()).not.toContain("execute_code");
    await other.close();
  });

  it("is how code is written, what it reaches and how results come", async () => {
    const { tools } = await client.listTools();
    const { description = "" } = tools.find(({ name }) => name === "execute_code") ?? {};
    for (const words of [
      "TypeScript (Deno)",
      'import { tool } from "./servers/<server>/index.ts"',
      "`await` every call",
      "`return value`",
      "No network.",
      "/workspace/servers is read-only",
      "ToolError has server, tool, code, message, details",
      "handle {path, size}",
      "A run over 45 s answers {run}: read_result",
    ]) {
      expect(description).toContain(words);
    }
    expect(tools.find(({ name }) => name === "execute_task")?.description).toMatch(
      /plain order .*fixed rules.* execute_code/u,
    );
  });

  it("names the hosts, folders and times of this server", async () => {
    const told = await descriptionOf("execute_code", {
      yieldAfterMs: 2_500,
      guest: {
        network: { hosts: ["a.example", "b.example:8080"] },
        mounts: [
          { guestPath: "/workspace/mounts/data", readOnly: true },
          { guestPath: "/workspace/mounts/out", readOnly: false },
        ],
      },
    });
    expect(told).toContain("fetch reaches only a.example, b.example:8080.");
    expect(told).toContain(
      "only /workspace, /workspace/mounts/data (read-only), /workspace/mounts/out; /workspace/servers",
    );
    expect(told).toContain("A run over 2.5 s");
    expect(await descriptionOf("execute_code", { guest: { network: "all" } })).toContain("public hosts");
    expect(await descriptionOf("execute_code", {})).not.toContain("network");
  });
});

describe("a failure", () => {
  it.each([
    [
      `await fetch("https://example.com");`,
      'no network access to "example.com:443". Code reaches only hosts',
    ],
    [`Deno.readTextFileSync("/etc/passwd");`, 'can\'t read "/etc/passwd". Code reads files of /workspace'],
    [
      `await Deno.writeTextFile("/workspace/servers/x.ts", "");`,
      "Code writes files in /workspace, but not in",
    ],
    [`new Deno.Command("/bin/ls").outputSync();`, 'can\'t start programs: "/bin/ls".'],
  ])("of %s is said in terms of the sandbox, caught or not", async (code, message) => {
    const uncaught = await call("execute_code", { code });
    expect(uncaught.isError).toBe(true);
    const { error } = uncaught.structuredContent as { error: string };
    const caught = await call("execute_code", {
      code: `try { ${code} } catch (error) { return [error.message, error.stack, error instanceof Error].join(); }`,
    });
    const { result } = caught.structuredContent as { result: string };
    for (const said of [error, result]) {
      expect(said).toContain(message);
      expect(said).not.toContain("--allow");
    }
  });
});

describe("an argument", () => {
  it.each([
    [
      "execute_task",
      { task: "Add 5 and 3" },
      'There is no argument "task". Did you mean "task_description"?',
    ],
    ["search_tools", { query: "x", limit: 3 }, "It takes: query, detail_level, max_results."],
    ["read_result", { path: "x" }, 'There is no argument "path". It takes: handle, offset, limit, end.'],
    ["list_servers", { all: true }, 'There is no argument "all". It takes no arguments.'],
    ["echo", { words: "a", loud: "high" }, 'Did you mean "loudness"? It takes: words, loudness.'],
  ])("of %s that does not exist is refused with those that do", async (name, args, message) => {
    const result = await call(name, args);
    expect(result.isError).toBe(true);
    expect(firstText(result)).toContain(message);
  });

  it.each([
    ["search_tools", { query: "x", detail_level: "descriptions" }, 'Did you mean "description"?'],
    ["search_tools", { query: "x", detail_level: 5 }, ', "full", not 5.'],
    ["echo", { words: "a", loudness: "loud" }, 'loudness takes "low", "high", not "loud".'],
  ])("of %s outside its enum is refused with the values that it takes", async (name, args, message) => {
    const result = await call(name, args);
    expect(result.isError).toBe(true);
    expect(firstText(result)).toContain(message);
  });

  it("of an open object may have any name", async () => {
    expect(firstText(await call("open", { words: "a", more: 1 }))).toBe("words more");
  });
});
