import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { startRedis } from "../../../packages/store/test/redis-server.ts";
import type { RedisServer } from "../../../packages/store/test/redis-server.ts";
import { JOBS, queueProject } from "./testing/queue-machines.ts";
import type { QueueProject } from "./testing/queue-machines.ts";
import { roundRobin } from "./testing/round-robin.ts";
import { describeWith } from "../../../vitest.tools.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const POLL = { timeout: 60_000 };
const CALL = { timeout: 120_000 };
const GENERATIONS = ["auto", "legacy"] as const;

type Answer = Record<string, unknown>;

async function connect(
  url: string,
  mode: (typeof GENERATIONS)[number],
  asked: string[] = [],
): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
  );
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    asked.push(params.message);
    const isName = params.message.includes("Who?");
    return { action: "accept" as const, content: isName ? { name: "Ada" } : { answer: "Yes, this once" } };
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  onTestFinished(() => client.close());
  return client;
}

async function call(client: Client, name: string, given: Answer, options = {}): Promise<Answer> {
  const answer = await client.callTool({ name, arguments: given }, { ...CALL, ...options });
  return (answer.structuredContent ?? { error: JSON.stringify(answer.content) }) as Answer;
}

async function waitFor(client: Client, first: Answer, options = {}): Promise<Answer> {
  let answer = first;
  while (typeof answer["run"] === "string")
    answer = await call(client, "read_result", { handle: answer["run"] }, options);
  return answer;
}

describeWith("redis-server")("two copies of a server behind a proxy that takes turns", () => {
  let redis: RedisServer;
  let project: QueueProject;
  let urls: string[];
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());
  beforeEach(async () => {
    project = await queueProject(redis.url, { server: { yield_after: 1 } });
    const [one, two] = await Promise.all([project.serve(), project.serve(), project.work(), project.work()]);
    urls = [one, two];
  });

  describe.each(GENERATIONS)("a client of the generation %s", (mode) => {
    it("reads the rest of a run that outlasts its call, with its output once, from any copy", async () => {
      const { url, taken } = await roundRobin(urls);
      const client = await connect(url, mode);
      for (const id of [`${mode}-a`, `${mode}-b`, `${mode}-c`]) {
        const first = await call(client, "execute_code", {
          code: `${JOBS} console.log("begun"); return await send({ id: "${id}", ms: 2600 });`,
        });
        expect(first["run"]).toEqual(expect.stringMatching(/^run-/u));
        expect(await waitFor(client, first)).toMatchObject({ success: true, result: { done: id } });
        expect(project.calls().filter((one) => one === `send ${id}`)).toHaveLength(1);
      }
      expect(Math.min(...taken())).toBeGreaterThan(2);
    });

    it("answers questions and approvals that another copy has", async () => {
      const { url } = await roundRobin(urls);
      const asked: string[] = [];
      const client = await connect(url, mode, asked);
      for (let at = 0; at < 3; at++) {
        const first = await call(client, "execute_code", {
          code: `${JOBS} const { name } = await ask({}); const { done } = await remove({ id: "${mode}-${at}" }); return { name, done };`,
        });
        expect(await waitFor(client, first)).toMatchObject({
          success: true,
          result: { name: "Ada", done: `${mode}-${at}` },
        });
      }
      expect(asked.filter((text) => text.includes("Who?"))).toHaveLength(3);
      expect(asked.filter((text) => text.includes("remove"))).toHaveLength(3);
    });

    it("is told of progress by whichever worker has the run", async () => {
      const { url } = await roundRobin(urls);
      const client = await connect(url, mode);
      for (let at = 0; at < 2; at++) {
        const told: string[] = [];
        const onprogress = ({ message = "" }: { message?: string | undefined }): void =>
          void told.push(message);
        // Of what happens between two calls nobody is told.
        const code = `${JOBS} for (let at = 0; at < 8; at++) await look({ id: "some", ms: 300 }); return 1;`;
        const first = await call(client, "execute_code", { code }, { onprogress });
        expect(await waitFor(client, first, { onprogress })).toMatchObject({ success: true });
        expect(told.join("\n")).toContain("jobs.look answered");
      }
    });

    it("ends a run at another copy, and by cancelling its call", async () => {
      const { url } = await roundRobin(urls);
      const client = await connect(url, mode);
      const slow = (id: string): Answer => ({
        code: `${JOBS} await look({ id: "${id}", ms: 20000 }); return await send({ id: "${id}" });`,
      });
      for (let at = 0; at < 2; at++) {
        const first = await call(client, "execute_code", slow(`end-${mode}-${at}`));
        const ended = await call(client, "read_result", { handle: first["run"], end: true });
        expect(ended).toMatchObject({ success: false, error: expect.stringContaining("cancelled") });
      }
      const controller = new AbortController();
      const id = `cancel-${mode}`;
      const cancelled = call(client, "execute_code", slow(id), { signal: controller.signal });
      await expect.poll(() => project.calls(), POLL).toContain(`look ${id}`);
      controller.abort();
      await expect(cancelled).rejects.toBeDefined();
      expect(project.calls().filter((one) => one.startsWith("send end-") || one === `send ${id}`)).toEqual(
        [],
      );
    });
  });

  it.each(["SIGKILL", "SIGTERM"] as const)(
    "go on with each other's runs, and with what these ask, after %s",
    async (signal) => {
      const [one = "", two = ""] = urls;
      const asked: string[] = [];
      const long = await connect(one, "auto", asked);
      const first = await call(long, "execute_code", {
        code: `${JOBS} console.log("begun"); return await send({ id: "long-${signal}", ms: 4000 });`,
      });
      expect(first["run"]).toEqual(expect.stringMatching(/^run-/u));
      const asks = await call(long, "execute_code", {
        code: `${JOBS} await look({ id: "wait", ms: 3000 }); const { name } = await ask({}); return name;`,
      });
      expect(asks["run"]).toEqual(expect.stringMatching(/^run-/u));
      await project.end(one, signal);
      const client = await connect(two, "auto", asked);
      expect(await waitFor(client, first)).toMatchObject({
        success: true,
        result: { done: `long-${signal}` },
      });
      expect(await waitFor(client, asks)).toMatchObject({ success: true, result: "Ada" });
      expect(project.calls().filter((one) => one === `send long-${signal}`)).toHaveLength(1);
      expect(asked.filter((text) => text.includes("Who?"))).toHaveLength(1);
    },
  );

  it("say that a run is not there when its copy is gone, without a wait", async () => {
    const client = await connect(urls[0] ?? "", "auto");
    for (const handle of ["run-000000000000.abcdefghijkl", "run-...", "run-.x", `run-${"a".repeat(70)}.x`])
      expect((await call(client, "read_result", { handle }))["error"]).toContain("There is no run");
  });
});
