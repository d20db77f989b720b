import type { JsonObject } from "@cem/core";
import { afterAll, afterEach, expect, it, onTestFinished, vi } from "vitest";
import { connectHttp } from "../../fixtures/clients.ts";
import { createLocalAgent } from "../../fixtures/local-agent.ts";
import { quietLogger } from "../../fixtures/serve.ts";
import { createAgentServer, serveHttp } from "../index.ts";
import type { AgentServerSettings } from "../index.ts";
import { MAX_WAIT_MS } from "./server-items.ts";

const { agent } = createLocalAgent();
afterAll(() => agent.dispose());
afterEach(() => vi.useRealTimers());

type Upstream = NonNullable<AgentServerSettings["upstream"]>;

/** The official client, by the older protocol, of a server that exposes what the given servers list. */
async function connect(lists: Record<string, () => Promise<JsonObject[]>>, request: Upstream["request"]) {
  const missing: string[] = [];
  const own = createAgentServer({
    agent,
    expose: ["resources", "prompts"],
    upstream: { servers: Object.keys(lists), list: async (server) => lists[server]?.() ?? [], request },
    onMissing: (server, error) => void missing.push(`${server}: ${(error as Error).message}`),
  });
  const served = await serveHttp(own, { port: 0, logger: quietLogger });
  onTestFinished(() => served.close());
  const client = await connectHttp(served.url, "legacy");
  onTestFinished(() => client.close());
  return { client, missing, own };
}

const nothing = async () => ({});

it("a server that does not answer is missing from lists, until they change because it did", async () => {
  const { promise, resolve } = Promise.withResolvers<JsonObject[]>();
  const fine = async () => {
    if (hung.mock.calls.length === 0) vi.useFakeTimers({ toFake: ["setTimeout"] });
    return [{ name: "a" }];
  };
  // Asked directly after the other: by then its time has passed.
  const hung = vi.fn<() => Promise<JsonObject[]>>(() => {
    if (vi.isFakeTimers()) vi.advanceTimersByTime(MAX_WAIT_MS);
    vi.useRealTimers();
    return promise;
  });
  const { client, missing, own } = await connect({ fine, hung }, nothing);
  const told: string[] = [];
  own.onListChanged((list) => told.push(list));
  expect(await client.listPrompts()).toMatchObject({ prompts: [{ name: "fine.a" }] });
  expect(missing).toEqual([expect.stringMatching(/^hung: It has not answered/)]);
  // A prompt that none of the others has may be there.
  const asked = client.getPrompt({ name: "b" }).catch((error: unknown) => String(error));
  expect(told).toEqual([]);
  resolve([{ name: "b" }]);
  expect(await asked).not.toContain("There is no prompt");
  await expect(client.getPrompt({ name: "c" })).rejects.toThrow('There is no prompt "c"');
  await vi.waitFor(() => expect(told).toEqual(["prompts"]));
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toEqual(["fine.a", "hung.b"]);
  expect(hung).toHaveBeenCalledTimes(1);
  own.listChanged("prompts");
  await client.listPrompts();
  expect(hung).toHaveBeenCalledTimes(2);
});

it("what does not fit the protocol is left out: members, or items that lack what is required", async () => {
  const odd: JsonObject[] = [
    { uri: "x://a", name: "a", mimeType: null },
    { uri: "x://b", name: "b", size: "huge", annotations: { lastModified: "2025-01-12", priority: 7 } },
    { uri: "", name: "c" },
    { name: "d" },
    { uri: "x://e", arguments: "x" },
    { name: 5 },
    { uri: "x://a", name: "f" },
    { name: "d" },
    { name: "" },
  ];
  const request = async () => ({ messages: [{ role: "robot", content: "x" }] });
  const { client, missing } = await connect({ odd: async () => odd }, request);
  const { resources } = await client.listResources();
  expect(resources).toEqual([
    { uri: "mcp://odd/x://a", name: "odd.a" },
    { uri: "mcp://odd/x://b", name: "odd.b" },
    { uri: "mcp://odd/x://e", name: "odd.x://e" },
  ]);
  expect(missing.splice(0)).toEqual([
    'odd: 6 of its resources do not fit the protocol or are there twice ("", null, null, "x://a", null, …).',
  ]);
  const { prompts } = await client.listPrompts();
  expect(prompts.map(({ name }) => name)).toEqual(["odd.a", "odd.b", "odd.c", "odd.d", "odd.f"]);
  expect(missing).toHaveLength(1);
  // A prompt that its server lists twice is one.
  await expect(client.getPrompt({ name: "d" })).rejects.toThrow(
    'Server "odd" sent a prompt that does not fit',
  );
  const numeric = client.getPrompt({ name: "odd.d", arguments: { lang: 5 as unknown as string } });
  await expect(numeric).rejects.toMatchObject({ code: -32_602 });
});
