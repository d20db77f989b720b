import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createServer, customTool, runServer } from "code-execution-mcp";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../testing/run-cem.ts";
import { renderVerified, summaryOf } from "../commands/verify.ts";
import { verifyTools } from "./verify-tools.ts";

const style = (width: number) => ({ width, colors: { dim: String, red: String } }) as never;

/** What a client sees of a server with a tool of somebody's own, which must not be called. */
async function verified() {
  const called: string[] = [];
  const own = customTool({
    name: "pay",
    description: "Pays.",
    inputSchema: z.object({}),
    handler: () => called.push("pay"),
  });
  const config = {
    execution: { workspaceDir: temporaryFolder(), state: { enabled: false } },
    logging: { level: "ERROR" as const },
  };
  const server = await createServer({ customTools: [own], profile: "original", config, configFile: false });
  const running = await runServer({ server, transport: "http", port: 0 });
  onTestFinished(() => running.close());
  const client = new Client({ name: "verify", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
  onTestFinished(() => client.close());
  const tools = await verifyTools(client, () => Promise.resolve(), new AbortController().signal);
  expect(called).toEqual([]);
  return [{ transport: "http", protocol: "2025-11-25", tools }] as const;
}

it("tells what works, what fails, and what it has not called", { timeout: 60_000 }, async () => {
  const all = await verified();
  const [{ tools }] = all;
  expect(Object.fromEntries(tools.map(({ tool, state }) => [tool, state]))).toEqual({
    execute_task: "passed",
    list_available_tools: "passed",
    get_state: "failed",
    save_state: "failed",
    list_servers: "passed",
    get_server_tools: "passed",
    search_tools: "passed",
    pay: "listed",
  });
  const lines = renderVerified(all, style(80));
  expect(lines.join("\n")).toMatch(/pay +listed[\s\S]*get_state, over http, protocol 2025-11-25: .*State/u);
  expect(Math.max(...renderVerified(all, style(40)).map(({ length }) => length))).toBeLessThanOrEqual(40);
  expect(summaryOf(all, undefined)).toEqual({
    failed: 2,
    message: "6 passed, 2 failed. 1 tool of your own listed and not called: pay.",
  });
});
