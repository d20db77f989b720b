import type { Agent, CatalogSnapshot, ToolDefinition } from "@cem/core";
import { loadTokenCounter } from "@cem/core/tokens";
import { describe, expect, it } from "vitest";
import { describeExecution } from "./describe-tools.ts";

function toolOf(server: string, name: string, more: Partial<ToolDefinition> = {}): ToolDefinition {
  return {
    server,
    name,
    kind: "local",
    description: `Does ${name} with everything that ${server} has.`,
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    callStyle: "object",
    signature: `${name}(input: { text: string }): Promise<{ done: boolean }>`,
    module: `./servers/${server}/index.ts`,
    ...more,
  };
}

/** An agent of which only the catalog is asked. */
function agentWith(tools: readonly ToolDefinition[]): Agent {
  const servers = [...Map.groupBy(tools, ({ server }) => server)].map(([name, all]) => ({
    name,
    kind: "local" as const,
    module: `./servers/${name}/index.ts`,
    tools: all,
  }));
  return {
    discoverTools: async () => ({ servers, problems: [] }) as unknown as CatalogSnapshot,
    searchTools: async (query: string) =>
      tools.filter(({ name }) => query.includes(name)).map((tool) => ({ tool, score: 1, reason: "named" })),
  } as unknown as Agent;
}

const count = await loadTokenCounter();
const many = Array.from({ length: 40 }, (_, server) =>
  Array.from({ length: 25 }, (__, tool) => toolOf(`server_${server}`, `tool_${server}_${tool}`)),
).flat();
const PLAIN_TOKENS = count(await describeExecution(agentWith(many), { signatureTokens: 0 }));

describe("describeExecution", () => {
  it("has all signatures where they fit", async () => {
    const text = await describeExecution(agentWith([toolOf("crm", "find"), toolOf("crm", "list")]), {});
    expect(text).toContain('// import from "./servers/crm/index.ts"');
    expect(text).toContain("find(input: { text: string }): Promise<{ done: boolean }>");
    expect(text).not.toContain("more tools");
  });

  it.each([0, 1, 50, 300, 2_000, 10_000])("keeps within %i tokens", async (signatureTokens) => {
    const text = await describeExecution(agentWith(many), { signatureTokens });
    expect(count(text)).toBeLessThanOrEqual(PLAIN_TOKENS + signatureTokens + 2);
    expect(text).toContain("search_tools shows them");
  });

  it("shows some tools of each server before all of one", async () => {
    const text = await describeExecution(agentWith(many), { signatureTokens: 1_500 });
    const servers = new Set([...text.matchAll(/"\.\/servers\/(\w+)\/index\.ts"/gu)].map(([, name]) => name));
    expect(servers.size).toBeGreaterThan(15);
  });

  it("begins with those closest to the task", async () => {
    const text = await describeExecution(agentWith(many), { signatureTokens: 60, task: "use tool_33_7" });
    expect(text).toContain("tool_33_7(");
  });

  it("passes over one that is too large, and over those that can't be called", async () => {
    const large = toolOf("crm", "large", { description: `Large ${"word ".repeat(30)}`.repeat(30) });
    const inputSchema = {
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: 300 }, (_, at) => [`field_${at}`, { type: "string" }]),
      ),
    };
    const gone = toolOf("crm", "gone", {
      unavailable: { code: "SERVER_DOWN", message: "It is down.", details: {} },
    });
    const tools = [{ ...large, inputSchema }, gone, toolOf("crm", "small")];
    const text = await describeExecution(agentWith(tools), { signatureTokens: 300 });
    expect(text).toContain("small(");
    expect(text).not.toContain("gone(");
    expect(text).not.toContain("field_299");
    expect(text).toContain("1 more tool, of crm");
  });

  it("says where there are no tools", async () => {
    expect(await describeExecution(agentWith([]), {})).toContain("There are no tools here");
  });
});
