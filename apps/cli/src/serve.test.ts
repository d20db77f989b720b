import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { runCem, SAMPLES, temporaryFolder } from "./testing/run-cem.ts";
import { startServing, stdio } from "./testing/start-serving.ts";

/** Each test starts processes, perhaps on a busy machine. */
vi.setConfig({ testTimeout: 120_000 });

/** Over HTTP the server's package tries the same clients. */
const isLong = process.env["CEM_TESTS"] !== undefined;
const TRANSPORTS = isLong ? (["stdio", "http", "sse"] as const) : (["stdio"] as const);

describe("cem serve", () => {
  describe.each(TRANSPORTS)("to the older SDK's client, over %s", (kind) => {
    it("serves a session as a model would have it", async () => {
      let transport: Transport;
      if (kind === "stdio") transport = new StdioClientTransport(stdio());
      else {
        const { url, signal, ended } = await startServing(kind);
        onTestFinished(async () => {
          signal("SIGTERM");
          await ended;
        });
        transport =
          kind === "http"
            ? new StreamableHTTPClientTransport(new URL(url))
            : new SSEClientTransport(new URL(url));
      }
      const client = new OlderClient({ name: "older", version: "1.0.0" });
      await client.connect(transport);
      expect((await client.listTools()).tools).toHaveLength(12);
      const call = async (name: string, args: Record<string, unknown>) => {
        const { content, structuredContent } = await client.callTool({ name, arguments: args });
        const [first] = content as { text: string }[];
        return { json: JSON.parse(first?.text ?? "null") as Record<string, never>, structuredContent };
      };
      const found = await call("search_tools", {
        query: "weather in a city",
        detail_level: "full",
        max_results: 2,
      });
      expect(Object.keys(found.json)).toContain("weather");
      const code = `import { get_weather } from "./servers/weather/index.ts";
        import { add } from "./servers/calculator/index.ts";
        const { temperature } = await get_weather({ location: "Paris", month: "July" });
        return { sum: await add({ a: Math.round(temperature), b: 0 }), log: "x".repeat(50_000) };`;
      const { json: ran } = await call("execute_code", { code });
      expect(ran).toMatchObject({ success: true });
      expect(await call("save_state", { state_data: { step: 1 } })).toMatchObject({
        json: { success: true },
      });
      expect((await call("get_state", {})).json).toMatchObject({ exists: true, data: { step: 1 } });
      await client.close();
    });
  });

  describe("in this process", () => {
    it("refuses to be reached from elsewhere without a token", async () => {
      const ended = await runCem(["serve", "http", "--host", "0.0.0.0"], { cwd: temporaryFolder() });
      expect(ended.code).toBe(1);
      expect(ended.stderr).toMatch(
        /would let anyone who can reach this machine run code[^]*\nSet server\.auth_token/u,
      );
    });

    it("prints what its tools cost", async () => {
      const { stdout } = await runCem(["serve", "--cost", "--json", ...SAMPLES], { cwd: temporaryFolder() });
      const { profiles, direct } = JSON.parse(stdout) as {
        profiles: { profile: string; total: number }[];
        direct: { tools: number; tokens: number };
      };
      const totals = Object.fromEntries(profiles.map(({ profile, total }) => [profile, total]));
      expect(totals["code"]).toBeLessThan(450);
      expect(totals["full"]).toBeLessThan(1_400);
      expect(direct.tokens).toBeGreaterThan(1_000);
    });
  });
});
