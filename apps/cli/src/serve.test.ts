import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { statSync, writeFileSync } from "node:fs";
import path from "node:path";
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { runCem, SAMPLES, temporaryFolder } from "./testing/run-cem.ts";
import { CEM_COMMAND, spawnCem } from "./testing/spawn-cem.ts";
import { startServing } from "./testing/start-serving.ts";

const [node = "", ...BEFORE] = CEM_COMMAND;
const ADD = `import { add } from "./servers/calculator/index.ts"; return await add({ a: 5, b: 3 });`;
const WRITE_STARTED = `import { write_file } from "./servers/filesystem/index.ts";
  await write_file({ path: "started", content: "" });`;
const FOREVER = `${WRITE_STARTED} await new Promise((resolve) => setTimeout(resolve, 60_000));`;
const A_WHILE = `${WRITE_STARTED} await new Promise((resolve) => setTimeout(resolve, 1_000)); return "finished";`;

/** How to start the server as a process. Types are not checked there: each process would load the compiler. */
function stdio(): {
  command: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  stderr: "ignore";
} {
  const cwd = temporaryFolder();
  writeFileSync(path.join(cwd, "config.yaml"), "execution:\n  type_check: off\n");
  const env = { PATH: process.env["PATH"] ?? "", HOME: cwd, CEM_TRUST_FOLDER: "1" };
  return { command: node, args: [...BEFORE, "serve", ...SAMPLES], cwd, env, stderr: "ignore" };
}

function processesOf(parent: number): number[] {
  const rows = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((row) => row.trim().split(/\s+/).map(Number));
  const children = rows.filter(([, ppid]) => ppid === parent).map(([pid = 0]) => pid);
  return children.flatMap((pid) => [pid, ...processesOf(pid)]);
}

/** Waits until a program of the server that runs in this folder has started. */
async function programStarted(cwd: string): Promise<void> {
  await vi.waitFor(() => statSync(path.join(cwd, "workspace/started")), { timeout: 60_000, interval: 20 });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

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

  describe("to a client of the newer protocol, over stdio", () => {
    it("answers, and ends with everything it started when the client is gone", async () => {
      const settings = stdio();
      const transport = new ModernStdio(settings);
      const client = new ModernClient(
        { name: "newer", version: "1.0.0" },
        { versionNegotiation: { mode: { pin: "2026-07-28" } } },
      );
      await client.connect(transport);
      const { structuredContent } = await client.callTool({ name: "execute_code", arguments: { code: ADD } });
      expect(structuredContent).toMatchObject({ success: true, result: 8 });
      client.callTool({ name: "execute_code", arguments: { code: FOREVER } }).catch(() => {});
      await programStarted(settings.cwd);
      const pid = transport.pid ?? 0;
      const family = [pid, ...processesOf(pid)];
      expect(family.length).toBeGreaterThan(1);
      await client.close();
      await expect.poll(() => family.filter(isAlive)).toEqual([]);
    });
  });

  describe("as a process", () => {
    const INITIALIZE = `${JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    })}\n`;

    it("ends with status 0 when stdin ends, and writes nothing but messages", async () => {
      const { ended } = spawnCem(["serve", ...SAMPLES], { cwd: temporaryFolder(), input: "" });
      expect(await ended).toMatchObject({ code: 0, stdout: "" });
    });

    it("survives lines that are no messages", async () => {
      const child = spawnCem(["serve", ...SAMPLES], { cwd: temporaryFolder() });
      child.stdin.write(`not json\n{"jsonrpc":"2.0"}\n[1]\n${INITIALIZE}`);
      const [answer] = (await once(child.stdout, "data")) as [string];
      expect(JSON.parse(answer.split("\n").at(-2) ?? "")).toMatchObject({ id: 1 });
    });

    it.runIf(isLong)("ends when a message of 50 MB comes, and says why", async () => {
      const code = "x".repeat(50 * 1024 * 1024);
      const message = {
        jsonrpc: "2.0",
        id: 2,
        method: "tools/call",
        params: { name: "execute_code", arguments: { code } },
      };
      const input = `${INITIALIZE}${JSON.stringify(message)}\n`;
      const ended = await spawnCem(["serve", ...SAMPLES], { cwd: temporaryFolder(), input }).ended;
      expect(ended.code).toBe(0);
      expect(ended.stderr).toMatch(/exceed|too large|maximum/i);
    });

    it("leaves nothing behind when it is told to stop while code runs", async () => {
      const cwd = temporaryFolder();
      const child = spawnCem(["serve", "http", "--port", "0", ...SAMPLES], { cwd });
      const url = await new Promise<string>((resolve) => {
        child.stderr.on("data", (line: string) => {
          const [, found] = /"url":"([^"]+)"/u.exec(line) ?? [];
          if (found !== undefined) resolve(found);
        });
      });
      const client = new ModernClient({ name: "t", version: "1" });
      await client.connect(new ModernHttp(new URL(url)));
      const answer = client.callTool({ name: "execute_code", arguments: { code: A_WHILE } });
      await programStarted(cwd);
      const family = processesOf(child.pid ?? 0);
      child.kill("SIGTERM");
      expect((await answer).structuredContent).toMatchObject({ result: "finished" });
      expect((await child.ended).code).toBe(143);
      await expect.poll(() => family.filter(isAlive)).toEqual([]);
    });

    it("ends by the signal that stops it, and prints nothing on stdout", async () => {
      const { signal, ended } = await startServing("http");
      signal("SIGTERM");
      expect(await ended).toMatchObject({ code: 143, stdout: "" });
    });

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
