import { Client as SdkClient, SSEClientTransport } from "@modelcontextprotocol/client";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectHttp, firstText, jsonOf } from "../../fixtures/clients.ts";
import { createLocalAgent } from "../../fixtures/local-agent.ts";
import { answersOf } from "../../fixtures/many-calls.ts";
import { quietLogger, servesInTests } from "../../fixtures/serve.ts";
import { createAgentServer, serveHttp } from "../index.ts";
import type { AgentServer, HttpServing } from "../index.ts";

const local = createLocalAgent();
const serve = servesInTests(local.agent);
let server: AgentServer;
let serving: HttpServing;
const clients: Partial<Record<"modern" | "legacy", Client>> = {};

beforeAll(async () => {
  server = createAgentServer({ agent: local.agent, yieldAfterMs: 100, guest: { timeoutMs: 120_000 } });
  serving = await serveHttp(server, { port: 0, logger: quietLogger });
  clients.modern = await connectHttp(serving.url, "modern");
  clients.legacy = await connectHttp(serving.url, "legacy");
});

afterAll(async () => {
  await serving?.close();
  await local.agent.dispose();
});

const FOREVER = `console.log("begun"); await forever();`;

function clientOf(era: "modern" | "legacy"): Client {
  const client = clients[era];
  if (client === undefined) throw new Error(`not connected: ${era}`);
  return client;
}

async function nothingRuns({ runs }: AgentServer): Promise<void> {
  await expect.poll(() => runs.active, { interval: 5 }).toBe(0);
}

describe.each(["modern", "legacy"] as const)("a run, by the %s protocol", (era) => {
  const call = (name: string, args: Record<string, unknown>) =>
    clientOf(era).callTool({ name, arguments: args });

  it("that takes long answers with its id, and read_result waits for the rest", async () => {
    const code = `console.log("step 1"); await reached("${era} 2"); console.log("step 2"); return "done";`;
    const first = await call("execute_code", { code });
    const { run, output } = first.structuredContent as { run: string; output: string };
    expect(first.isError).toBeUndefined();
    // On a busy machine the first step comes after the first answer.
    const more = async (): Promise<string> =>
      ((await call("read_result", { handle: run })).structuredContent as { output: string }).output;
    let begun = output;
    while (begun === "") begun = await more();
    expect(begun).toBe("step 1\n");
    expect(first.content[1]).toMatchObject({
      text: expect.stringMatching(
        new RegExp(
          `^Still running, since \\d{4}-\\d\\d-\\d\\dT[\\d:]{8}Z \\([\\d.]+ s\\); its code is stopped after 120 s\\. read_result \\{"handle":"${run}"\\} waits for more; with "end":true it stops the run\\.$`,
        ),
      ),
    });
    expect((await call("read_result", { handle: run })).structuredContent).toEqual({ run, output: "" });
    local.release(`${era} 2`);
    expect(jsonOf(await call("read_result", { handle: run }))).toEqual({
      success: true,
      result: "done",
      output: "step 1\nstep 2\n",
      error: null,
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
      error: expect.stringContaining("cancelled"),
    });
    await nothingRuns(server);
  });

  it("is stopped at once when its call is cancelled", async () => {
    const own = await serve();
    const client = await connectHttp(own.url, era);
    await nothingRuns(own.server);
    const controller = new AbortController();
    const started = performance.now();
    const answer = client.callTool(
      { name: "execute_code", arguments: { code: FOREVER } },
      { signal: controller.signal },
    );
    await expect.poll(() => own.server.runs.active, { interval: 5 }).toBe(1);
    controller.abort();
    await expect(answer).rejects.toThrow(/abort/i);
    await nothingRuns(own.server);
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  it("is stopped when its client goes away", async () => {
    const own = await serve();
    const client = await connectHttp(own.url, era);
    await nothingRuns(own.server);
    client.callTool({ name: "execute_code", arguments: { code: FOREVER } }).catch(() => {});
    await expect.poll(() => own.server.runs.active, { interval: 5 }).toBe(1);
    await client.close();
    await nothingRuns(own.server);
    expect(own.server.runs.kept).toBe(0);
  });
});

describe("a run, by a client over SSE", () => {
  it("is stopped when its client goes away", async () => {
    const sse = await serve({ transport: "sse" });
    const client = new SdkClient({ name: "sse", version: "1.0.0" });
    await client.connect(new SSEClientTransport(new URL(sse.url)));
    client.callTool({ name: "execute_code", arguments: { code: FOREVER } }).catch(() => {});
    await expect.poll(() => sse.server.runs.active).toBeGreaterThan(0);
    await client.close();
    await expect.poll(() => sse.server.runs.active).toBe(0);
  });

  it("is answered, and streams are bounded in number", async () => {
    const sse = await serve({ transport: "sse", maxSessions: 1 });
    const client = new SdkClient({ name: "sse", version: "1.0.0" });
    await client.connect(new SSEClientTransport(new URL(sse.url)));
    const result = await client.callTool({ name: "execute_code", arguments: { code: "return 7" } });
    expect(jsonOf(result)).toMatchObject({ result: 7 });
    const refused = await fetch(sse.url);
    expect([refused.status, await refused.text()]).toEqual([
      503,
      "1 streams are open and in use, which is the maximum. Try again later.",
    ]);
    await client.close();
    await expect
      .poll(async () => {
        const controller = new AbortController();
        const { status } = await fetch(sse.url, { signal: controller.signal });
        controller.abort();
        return status;
      })
      .toBe(200);
  });
});

describe("many calls at once, in this process", () => {
  it("are all answered, 64 of them from 8 clients", async () => {
    expect(await answersOf(local.agent, 64)).toEqual(Array.from({ length: 64 }, (_, index) => index));
  });
});
