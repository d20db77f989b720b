import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import path from "node:path";
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { describe, expect, it, vi } from "vitest";
import { SAMPLES, temporaryFolder } from "./testing/run-cem.ts";
import { spawnCem } from "./testing/spawn-cem.ts";
import { startServing, stdio } from "./testing/start-serving.ts";

const ADD = `import { add } from "./servers/calculator/index.ts"; return await add({ a: 5, b: 3 });`;
const WRITE_STARTED = `import { write_file } from "./servers/filesystem/index.ts";
  await write_file({ path: "started", content: "" });`;
const FOREVER = `${WRITE_STARTED} await new Promise((resolve) => setTimeout(resolve, 60_000));`;
const A_WHILE = `${WRITE_STARTED} await new Promise((resolve) => setTimeout(resolve, 1_000)); return "finished";`;

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

describe("cem serve", () => {
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
      let answers = "";
      child.stdout.on("data", (text: string) => (answers += text));
      await vi.waitFor(() => expect(answers).toContain("serverInfo"), { timeout: 20_000 });
      const read = answers.trim().split("\n");
      expect(read.map((line) => JSON.parse(line) as unknown)).toMatchObject([
        { id: null, error: { code: -32_700 } },
        { id: null, error: { code: -32_600 } },
        { id: 1, result: {} },
      ]);
    });

    it("answers a message of 50 MB with an error, and goes on", async () => {
      const code = "x".repeat(50 * 1024 * 1024);
      const message = {
        jsonrpc: "2.0",
        id: 2,
        method: "tools/call",
        params: { name: "execute_code", arguments: { code } },
      };
      const next = { jsonrpc: "2.0", id: 3, method: "ping" };
      const input = `${INITIALIZE}${JSON.stringify(message)}\n${JSON.stringify(next)}\n`;
      const ended = await spawnCem(["serve", ...SAMPLES], { cwd: temporaryFolder(), input }).ended;
      expect(ended.code).toBe(0);
      const answers = ended.stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as object);
      expect(answers).toContainEqual(
        expect.objectContaining({ id: 2, error: expect.objectContaining({ code: -32_600 }) as unknown }),
      );
      expect(answers).toContainEqual({ jsonrpc: "2.0", id: 3, result: {} });
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
  });
});
