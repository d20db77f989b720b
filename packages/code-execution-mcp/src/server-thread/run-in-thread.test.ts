import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { runServerInThread } from "./start.ts";

const CRASH = `import { defineTool } from "code-execution-mcp";
export default defineTool({
  description: "Ends the thread that it runs in.",
  inputSchema: { type: "object", properties: {} },
  execute: () => {
    setTimeout(() => { throw new Error("crashed on purpose"); }, 0);
    return new Promise(() => {});
  },
});
`;
const BUSY = CRASH.replace(
  /setTimeout.*\n/u,
  "for (const end = Date.now() + 1_500; Date.now() < end; );\n",
).replace("new Promise(() => {})", "1");

function folder(): string {
  const cwd = mkdtempSync(path.join(tmpdir(), "cem-thread-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  mkdirSync(path.join(cwd, "servers/faulty"), { recursive: true });
  writeFileSync(path.join(cwd, "servers/faulty/crash.host.ts"), CRASH);
  writeFileSync(path.join(cwd, "servers/faulty/busy.host.ts"), BUSY);
  writeFileSync(path.join(cwd, "config.yaml"), `execution: {type_check: off}\nlogging: {file: ${cwd}/log}\n`);
  return cwd;
}

async function serve(onRestart?: (reason: string) => void) {
  const running = await runServerInThread({ cwd: folder(), transport: "http", port: 0 }, onRestart);
  onTestFinished(() => running.close(0));
  return running;
}

async function run(url: string, code: string) {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  try {
    return (await client.callTool({ name: "execute_code", arguments: { code } })).structuredContent;
  } finally {
    await client.close();
  }
}

const calling = (tool: string): string =>
  `import { ${tool} } from "./servers/faulty/index.ts"; return await ${tool}({});`;

describe("runServerInThread", () => {
  it("answers /healthz while the server is busy, and runs code as any server", async () => {
    const { url } = await serve();
    expect(await run(url, "return 6 * 7;")).toMatchObject({ success: true, result: 42 });
    const busy = run(url, calling("busy"));
    let longest = 0;
    let asked = 0;
    const done = new AbortController();
    void busy.finally(() => done.abort());
    while (!done.signal.aborted) {
      const started = performance.now();
      expect((await fetch(new URL("/healthz", url))).status).toBe(200);
      longest = Math.max(longest, performance.now() - started);
      asked++;
    }
    expect(await busy).toMatchObject({ success: true, result: 1 });
    expect([asked > 5, longest < 1_200]).toEqual([true, true]);
  });

  it("starts again where its thread ends, at the same address", async () => {
    const reasons: string[] = [];
    const { url } = await serve((reason) => reasons.push(reason));
    await expect(run(url, calling("crash"))).rejects.toThrow(/./u);
    await expect.poll(() => reasons, { timeout: 10_000 }).toHaveLength(1);
    await expect
      .poll(async () => (await fetch(new URL("/readyz", url))).status, { timeout: 30_000, interval: 100 })
      .toBe(200);
    expect(await run(url, "return 1;")).toMatchObject({ success: true, result: 1 });
  });

  it("says why it can't start", async () => {
    const cwd = folder();
    await expect(runServerInThread({ cwd, transport: "http", host: "0.0.0.0" })).rejects.toMatchObject({
      code: "ADDRESS_REFUSED",
    });
    const { url } = await serve();
    const port = Number(new URL(url).port);
    await expect(runServerInThread({ cwd, transport: "http", port })).rejects.toMatchObject({
      code: "ADDRESS_UNUSABLE",
      details: { port, reason: "taken" },
    });
  });

  it("ends when it is closed", async () => {
    const running = await serve();
    const { url } = running;
    await running.close(0);
    await running.closed;
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });
});
