import { mkdtempSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runServerInThread } from "./run-in-thread.ts";
import type { ThreadServer } from "./run-in-thread.ts";
import { THREAD_TIMING } from "./server-thread.ts";

const BUSY_MS = 500;
const HANG_MS = 500;
/** Threads that load what they need may take longer than that. */
const timing = { ...THREAD_TIMING, pingIntervalMs: 50, closeMs: 200, restartDelayMs: 20 };

const hostTool = (body: string): string => `import { defineTool } from "code-execution-mcp";
export default defineTool({
  description: "Holds up the thread that it runs in.",
  inputSchema: { type: "object", properties: {} },
  execute: () => { ${body} },
});
`;
const TOOLS = {
  busy: `for (const end = Date.now() + ${BUSY_MS}; Date.now() < end; ); return 1;`,
  hang: "for (;;);",
  crash: 'setTimeout(() => { throw new Error("crashed on purpose"); }, 0); return new Promise(() => {});',
};

const cwd = mkdtempSync(path.join(tmpdir(), "cem-thread-"));
const options = { cwd, trustFolder: true, transport: "http", port: 0 } as const;
const reasons: string[] = [];
let running: ThreadServer;

beforeAll(async () => {
  mkdirSync(path.join(cwd, "servers/faulty"), { recursive: true });
  for (const [name, body] of Object.entries(TOOLS)) {
    writeFileSync(path.join(cwd, `servers/faulty/${name}.host.ts`), hostTool(body));
  }
  writeFileSync(path.join(cwd, "config.yaml"), `execution: {type_check: off}\nlogging: {file: ${cwd}/log}\n`);
  running = await runServerInThread(options, (reason) => reasons.push(reason), timing);
});
afterAll(async () => {
  await running.close(0);
  rmSync(cwd, { recursive: true, force: true });
});

async function run(code: string) {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(running.url)));
  try {
    return (await client.callTool({ name: "execute_code", arguments: { code } })).structuredContent;
  } finally {
    await client.close();
  }
}

const calling = (tool: keyof typeof TOOLS): string =>
  `import { ${tool} } from "./servers/faulty/index.ts"; return await ${tool}({});`;

async function isServingAgain(): Promise<void> {
  await expect
    .poll(async () => (await fetch(new URL("/readyz", running.url))).status, {
      timeout: 30_000,
      interval: 20,
    })
    .toBe(200);
}

// One server for all, in this order: starting one takes most of the time.
describe("runServerInThread", () => {
  it("answers /healthz while the server is busy, and runs code as any server", async () => {
    const busy = run(calling("busy"));
    let longest = 0;
    let asked = 0;
    const done = new AbortController();
    void busy.finally(() => done.abort()).catch(() => {});
    while (!done.signal.aborted) {
      const started = performance.now();
      expect((await fetch(new URL("/healthz", running.url))).status).toBe(200);
      longest = Math.max(longest, performance.now() - started);
      asked++;
    }
    expect(await busy).toMatchObject({ success: true, result: 1 });
    expect([asked > 5, longest < BUSY_MS * 0.9]).toEqual([true, true]);
  });

  it("says why it can't start", async () => {
    const port = Number(new URL(running.url).port);
    await expect(runServerInThread({ ...options, port })).rejects.toMatchObject({
      code: "ADDRESS_UNUSABLE",
      details: { port, reason: "taken" },
    });
  });

  it("starts again where its thread ends, at the same address", async () => {
    await expect(run(calling("crash"))).rejects.toThrow("The server stopped while it worked on this");
    await expect.poll(() => reasons, { timeout: 10_000 }).toEqual(["crashed on purpose"]);
    await isServingAgain();
    expect(await run("return 1;")).toMatchObject({ success: true, result: 1 });
  });

  it("starts again where its thread does one thing for long", async () => {
    timing.hangMs = HANG_MS;
    await expect(run(calling("hang"))).rejects.toThrow("The server stopped while it worked on this");
    timing.hangMs = THREAD_TIMING.hangMs;
    await expect
      .poll(() => reasons.slice(1), { timeout: 10_000 })
      .toEqual([expect.stringMatching(/^it did one thing for \d seconds$/u)]);
    await isServingAgain();
  });

  it("ends when it is closed, though its thread hangs", async () => {
    const hanging = run(calling("hang")).then(
      () => "answered",
      () => "failed",
    );
    await expect
      .poll(() =>
        fetch(new URL("/readyz", running.url), { signal: AbortSignal.timeout(200) }).catch(() => "hangs"),
      )
      .toBe("hangs");
    const started = performance.now();
    await running.close(0);
    await running.closed;
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(await hanging).toBe("failed");
    await expect(fetch(running.url)).rejects.toThrow("fetch failed");
    expect(readdirSync(tmpdir()).filter((name) => /^cem-[A-Za-z0-9]{6}$/u.test(name))).toEqual([]);
  });
});
