import { setTimeout as delay } from "node:timers/promises";
import { Client as SdkClient, SSEClientTransport } from "@modelcontextprotocol/client";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectHttp, firstText, jsonOf } from "../fixtures/clients.ts";
import { createRealAgent } from "../fixtures/real-agent.ts";
import { createAgentServer, createLogger, serveHttp } from "./index.ts";
import type { AgentServer, HttpServing } from "./index.ts";
import { RunRegistry } from "./run-registry.ts";

const { agent } = createRealAgent();
const quiet = createLogger({ level: "CRITICAL" });
let server: AgentServer;
let serving: HttpServing;
const clients: Partial<Record<"modern" | "legacy", Client>> = {};

beforeAll(async () => {
  server = createAgentServer({ agent, yieldAfterMs: 700 });
  serving = await serveHttp(server, { port: 0, logger: quiet });
  clients.modern = await connectHttp(serving.url, "modern");
  clients.legacy = await connectHttp(serving.url, "legacy");
  await clients.modern.callTool({ name: "execute_code", arguments: { code: "return 1" } });
});

afterAll(async () => {
  await serving.close();
  await agent.dispose();
});

const COUNTER = `for (let n = 1; n <= 4; n++) { console.log("step " + n); await new Promise((r) => setTimeout(r, 400)); } return "done";`;
const FOREVER = `console.log("begun"); await new Promise((resolve) => setTimeout(resolve, 60_000));`;

function clientOf(era: "modern" | "legacy"): Client {
  const client = clients[era];
  if (client === undefined) throw new Error(`not connected: ${era}`);
  return client;
}

async function nothingRuns(): Promise<void> {
  await expect.poll(() => server.runs.active, { timeout: 5_000 }).toBe(0);
}

describe.each(["modern", "legacy"] as const)("a run, by the %s protocol", (era) => {
  const call = (name: string, args: Record<string, unknown>) =>
    clientOf(era).callTool({ name, arguments: args });

  it("that takes long answers with its id, and read_result waits for the rest", async () => {
    const first = await call("execute_code", { code: COUNTER });
    const { run, output } = first.structuredContent as { run: string; output: string };
    expect(first.isError).toBeUndefined();
    expect(output).toMatch(/^step 1\n/);
    expect(first.content[1]).toMatchObject({
      text: expect.stringContaining(`read_result {"handle":"${run}"}`),
    });
    let last = await call("read_result", { handle: run });
    while ("run" in (last.structuredContent as object)) last = await call("read_result", { handle: run });
    expect(jsonOf(last)).toMatchObject({
      success: true,
      result: "done",
      output: "step 1\nstep 2\nstep 3\nstep 4\n",
    });
    const gone = await call("read_result", { handle: run });
    expect(gone.isError).toBe(true);
    expect(firstText(gone)).toContain("There is no run");
  });

  it("that takes long can be ended", async () => {
    const { run } = (await call("execute_code", { code: FOREVER })).structuredContent as { run: string };
    const ended = await call("read_result", { handle: run, end: true });
    expect(jsonOf(ended)).toMatchObject({
      success: false,
      output: "begun\n",
      error: "The run was cancelled.",
    });
    await nothingRuns();
  });

  it("is stopped at once when its call is cancelled", async () => {
    const controller = new AbortController();
    const started = performance.now();
    const answer = clientOf(era).callTool(
      { name: "execute_code", arguments: { code: FOREVER } },
      { signal: controller.signal },
    );
    setTimeout(() => controller.abort(), 250);
    await expect(answer).rejects.toThrow(/abort/i);
    await nothingRuns();
    expect(server.runs.kept).toBe(0);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it("is stopped when its client goes away", async () => {
    const client = await connectHttp(serving.url, era);
    client.callTool({ name: "execute_code", arguments: { code: FOREVER } }).catch(() => {});
    await expect.poll(() => server.runs.active).toBe(1);
    await client.close();
    await nothingRuns();
    expect(server.runs.kept).toBe(0);
  });

  it("tells its stages and tool calls to who asked for progress", async () => {
    const messages: string[] = [];
    let last = 0;
    const code = `import { add } from "./servers/calculator/index.ts"; return await add({ a: 1, b: 2 });`;
    await clientOf(era).callTool(
      { name: "execute_code", arguments: { code } },
      {
        onprogress: ({ progress, message = "" }) => {
          expect(progress).toBeGreaterThan(last);
          last = progress;
          messages.push(message);
        },
      },
    );
    expect(messages).toEqual([
      "Looking at the tools",
      "Reviewing the code",
      "Running the code",
      expect.stringMatching(/^calculator\.add answered after \d+ ms$/),
    ]);
  });
});

describe("a run, by a client over SSE", () => {
  it("is stopped when its client goes away", async () => {
    const sse = createAgentServer({ agent });
    const sseServing = await serveHttp(sse, { transport: "sse", port: 0, logger: quiet });
    const client = new SdkClient({ name: "sse", version: "1.0.0" });
    await client.connect(new SSEClientTransport(new URL(sseServing.url)));
    client.callTool({ name: "execute_code", arguments: { code: FOREVER } }).catch(() => {});
    await expect.poll(() => sse.runs.active).toBe(1);
    await client.close();
    await expect.poll(() => sse.runs.active, { timeout: 5_000 }).toBe(0);
    await sseServing.close();
  });
});

describe("many calls at once", () => {
  it("are all answered, 200 of them from 8 clients", { timeout: 90_000 }, async () => {
    const many = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        connectHttp(serving.url, index % 2 === 0 ? "modern" : "legacy"),
      ),
    );
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const client = many[index % many.length] as Client;
        let name = "execute_code";
        let args: Record<string, unknown> = { code: `return ${index};` };
        for (;;) {
          const { structuredContent } = await client.callTool({ name, arguments: args });
          const { run, result } = structuredContent as { run?: string; result: number };
          if (run === undefined) return result;
          [name, args] = ["read_result", { handle: run }];
        }
      }),
    );
    expect(answers).toEqual(Array.from({ length: 200 }, (_, index) => index));
    await Promise.all(many.map((client) => client.close()));
  });
});

describe("RunRegistry", () => {
  const finished = { status: "success" } as never;
  const request = (begin: (signal: AbortSignal) => Promise<never>, owner = "") => ({
    kind: "code" as const,
    owner,
    signal: new AbortController().signal,
    begin: ({ signal }: { signal?: AbortSignal | undefined }) => begin(signal as AbortSignal),
  });
  const forever = (signal: AbortSignal) =>
    new Promise<never>((resolve) => signal.addEventListener("abort", () => resolve(finished)));

  it("gives a run to its owner only", async () => {
    const runs = new RunRegistry({ yieldAfterMs: 10 });
    const view = await runs.start(request(forever, "ada"));
    const { id } = view as { id: string };
    await expect(runs.wait(id, { owner: "bob", signal: AbortSignal.timeout(10_000) })).rejects.toMatchObject({
      code: "RUN_NOT_FOUND",
    });
    await expect(runs.end(id, "")).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
    expect(await runs.end(id, "ada")).toBe(finished);
  });

  it("keeps output and result from who does not wait any more", async () => {
    const runs = new RunRegistry({ yieldAfterMs: 10 });
    const view = await runs.start(request(() => delay(60, finished)));
    const { id } = view as { id: string };
    await expect(runs.wait(id, { owner: "", signal: AbortSignal.abort(new Error("left")) })).rejects.toThrow(
      "left",
    );
    await delay(80);
    expect(await runs.wait(id, { owner: "", signal: AbortSignal.timeout(10_000) })).toEqual({
      state: "finished",
      result: finished,
    });
  });

  it("ends a run that nobody asks for any more", async () => {
    const runs = new RunRegistry({ yieldAfterMs: 10, idleMs: 50 });
    await runs.start(request(forever));
    expect([runs.active, runs.kept]).toEqual([1, 1]);
    await expect.poll(() => [runs.active, runs.kept]).toEqual([0, 0]);
  });

  it("keeps a bounded number: beyond it a call waits for its run", async () => {
    const runs = new RunRegistry({ yieldAfterMs: 5 });
    await Promise.all(Array.from({ length: 64 }, () => runs.start(request(forever))));
    const waits = runs.start(request(() => delay(100, finished)));
    expect(await Promise.race([waits, delay(50, "waiting")])).toBe("waiting");
    expect(await waits).toEqual({ state: "finished", result: finished });
    await runs.close();
    expect(runs.active).toBe(0);
  });

  it("refuses beyond its capacity, and after it was closed", async () => {
    const runs = new RunRegistry({ yieldAfterMs: 60_000 });
    const all = Array.from({ length: 1_000 }, () => runs.start(request(forever)));
    await expect(runs.start(request(forever))).rejects.toMatchObject({ code: "SERVER_BUSY" });
    await runs.close();
    await Promise.all(all);
    await expect(runs.start(request(forever))).rejects.toMatchObject({ code: "SERVER_CLOSING" });
  });

  it("lets runs finish in the time it is given to close", async () => {
    const runs = new RunRegistry({ yieldAfterMs: 60_000 });
    let aborted = false;
    const quick = runs.start(
      request(async (signal) => {
        await delay(50);
        aborted = signal.aborted;
        return finished;
      }),
    );
    await runs.close(5_000);
    await quick;
    expect(aborted).toBe(false);
  });

  it("does not start for a call that is cancelled already", async () => {
    const runs = new RunRegistry({ yieldAfterMs: 10 });
    const cancelled = { ...request(forever), signal: AbortSignal.abort(new Error("cancelled")) };
    await expect(runs.start(cancelled)).rejects.toThrow("cancelled");
    expect(runs.active).toBe(0);
  });
});
