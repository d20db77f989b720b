import { spawnSync } from "node:child_process";
import { readFileSync, renameSync, statSync } from "node:fs";
import path from "node:path";
import type { Replicas } from "@cem/core";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { connectHttp } from "../fixtures/clients.ts";
import { createRealAgent, temporaryFolder } from "../fixtures/real-agent.ts";
import { ask, at, LIST_TOOLS, servesInTests } from "../fixtures/serve.ts";
import { forwardToOwner } from "./http/forward-to-owner.ts";
import { createLogger } from "./index.ts";
import { readableLine } from "./logger.ts";
import { idAtReplica } from "./runs/run.ts";

const { agent, close } = createRealAgent();
const serve = servesInTests(agent);
const TOKEN = "a-long-enough-token-0123456789";

afterAll(close);

function newFolder(): string {
  const { folder, remove } = temporaryFolder();
  onTestFinished(remove);
  return folder;
}

describe("the log", () => {
  it("says so when it can't be written", () => {
    const file = newFolder();
    expect(() => createLogger({ file })).toThrow(
      expect.objectContaining({
        code: "LOG_UNWRITABLE",
        message: expect.stringMatching(/^The log .* can't be written: EISDIR/),
        details: { file },
      }),
    );
  });

  it.runIf(process.platform === "linux").each([
    ["file", "", /^[^]*Warning: The log \S+ can't be written: EFBIG(?![^]*Warning)/],
    ["standard error", " 2>/dev/full", /^$/],
  ])("does not end a process whose %s takes nothing more", (where, to, said) => {
    const settings = where === "file" ? { file: path.join(newFolder(), "server.log") } : {};
    const program = `
      const { createLogger } = await import("@cem/mcp-server");
      const logger = createLogger(${JSON.stringify(settings)});
      for (let at = 0; at < 3; at++) logger.info("a line");
      console.log("alive");
    `;
    const node = [process.execPath, "--conditions=@cem/source", "--input-type=module", "-e", program];
    const command = ["-c", `ulimit -f 0; exec "$0" "$@"${to}`, ...node];
    const { stdout, stderr } = spawnSync("sh", command, { cwd: import.meta.dirname, encoding: "utf8" });
    expect(stdout).toBe("alive\n");
    expect(stderr).toMatch(said);
  });

  it("goes on in a new file where its own was moved, which only its owner may read", () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const file = path.join(newFolder(), "server.log");
    const logger = createLogger({ file });
    logger.info("before");
    renameSync(file, `${file}.1`);
    vi.advanceTimersByTime(60_000);
    logger.info("after");
    expect(readFileSync(`${file}.1`, "utf8")).toMatch(/^.*"before"\}\n$/u);
    expect(readFileSync(file, "utf8")).toMatch(/^.*"after"\}\n$/u);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("is text in a terminal, which nothing in it can steer", () => {
    const line = (facts: object): string =>
      readableLine(JSON.stringify({ level: "info", time: new Date(2026, 1, 1, 22, 59, 2), ...facts }));
    expect(line({ status: 200, level: "warn", msg: "request\u001B[2J" })).toBe(
      "  22:59:02  warn  request\uFFFD[2J  status 200",
    );
    const [url, page] = ["http://127.0.0.1:3000/mcp", "http://127.0.0.1:3000/console/"];
    expect(line({ msg: "listening on this machine's loopback", url, console: page }).split("\n")).toEqual([
      "  22:59:02  listening on this machine's loopback",
      `            url      ${url}`,
      `            console  ${page}`,
    ]);
  });

  it("has that an answer of another replica broke off, and nothing between its lines", async () => {
    const printed = vi.spyOn(console, "error");
    onTestFinished(() => printed.mockRestore());
    async function* body() {
      yield Buffer.from("data: a part\n\n");
      throw new Error("the other is gone");
    }
    const replicas: Replicas = {
      specificationVersion: "v1",
      name: "here",
      receive: async () => {},
      send: async () => ({ status: 200, headers: [], body: ReadableStream.from(body()) }),
      sharedKey: async () => Buffer.alloc(32),
    };
    const file = path.join(newFolder(), "server.log");
    const { url } = await serve({ logger: createLogger({ file }) }, { replicas });
    const accept = "application/json, text/event-stream";
    const session = { "mcp-session-id": idAtReplica("other", "session") };
    const headers = { accept, "content-type": "application/json", ...session };
    const answer = await fetch(url, { method: "POST", headers, body: LIST_TOOLS });
    await expect(answer.text()).rejects.toThrow("terminated");
    expect(readFileSync(file, "utf8")).toMatch(/"error":"the other is gone","msg":"fault"/u);
    expect(printed).not.toHaveBeenCalled();
    // Without a connection that could be cut, as where another replica asked.
    const request = new Request(url, { method: "POST", headers });
    const handed = await forwardToOwner(replicas, request, { parsedBody: {} });
    await expect(handed?.text()).rejects.toThrow("the other is gone");
  });

  it("ties runs to requests, and tells neither code nor tokens", async () => {
    const file = path.join(newFolder(), "logs", "server.log");
    const { url } = await serve({ logger: createLogger({ file }), auth: { token: TOKEN } });
    await ask(at(url, "/healthz?probe=1"));
    const client = await connectHttp(url, "modern", { authorization: `Bearer ${TOKEN}` });
    await client.callTool({ name: "execute_code", arguments: { code: `return "a secret";` } });
    await client.close();
    const text = readFileSync(file, "utf8");
    const lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { msg: string; requestId?: string; path?: string });
    const run = lines.find(({ msg, requestId }) => msg === "run" && requestId !== undefined);
    expect(run).toMatchObject({ level: "info", kind: "code", status: "success", toolCalls: 0 });
    const asked = lines.find(({ msg, requestId }) => msg === "request" && requestId === run?.requestId);
    expect(asked).toMatchObject({ method: "POST", path: "/mcp", status: 200, ms: expect.any(Number) });
    expect(lines.some(({ path: asOf }) => asOf === "/healthz")).toBe(false);
    expect(text).not.toMatch(new RegExp(`a secret|${TOKEN}`));
  });
});

describe("/metrics", () => {
  it("counts runs, tool calls and refusals", async () => {
    const { url } = await serve();
    const client = await connectHttp(url, "modern");
    const run = (code: string) => client.callTool({ name: "execute_code", arguments: { code } });
    await run(`import { add } from "./servers/calculator/index.ts"; return await add({ a: 1, b: 1 });`);
    await run(`import "./servers/none/index.ts";`);
    await client.close();
    // A guest is given back a moment after its run was answered.
    await expect
      .poll(async () => (await ask(at(url, "/metrics"))).body)
      .toContain('cem_sandbox_runs{state="running"} 0');
    const { body, headers } = await ask(at(url, "/metrics"));
    expect(headers["content-type"]).toMatch(/^text\/plain; version=/);
    // The server has run a program itself, to see whether it is ready, and those of other tests in this process may still do so.
    expect(body).toMatch(/cem_runs_total\{kind="code",status="success",isolation="\w+"\} [1-9]\n/);
    expect(body).toContain('cem_runs_total{kind="code",status="refused",isolation="none"} 1');
    expect(body).toContain('cem_tool_calls_total{ok="true"} 1');
    expect(body).toContain('cem_refusals_total{code="CODE_REFUSED"} 1');
    expect(body).toMatch(/cem_run_duration_seconds_count\{kind="code"\} [2-9]/);
    expect(body).toContain("cem_runs_active 0");
    expect(body).toMatch(/cem_http_requests_total\{status="200"\} \d/);
    expect(body).toMatch(/cem_guests\{state="standby"\} \d/);
    const takes = [...body.matchAll(/cem_guest_takes_total\{from="\w+"\} (\d+)/g)].map(([, n]) => Number(n));
    expect(takes.reduce((sum, n) => sum + n, 0)).toBeGreaterThan(0);
  });
});
