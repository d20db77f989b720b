import { mkdtempSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { JsonObject } from "@cem/core";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defineTool, runServer } from "./index.ts";
import type { RunningServer } from "./index.ts";

type Era = "modern" | "legacy";

const schema: JsonObject = { type: "object", properties: { sure: { type: "boolean" } }, required: ["sure"] };
const confirmOnce = `import { confirm } from "./servers/lab/index.ts";\nreturn await confirm();`;

let running: RunningServer;

interface Connected {
  client: Client;
  asked: string[];
}

type Reply = { action: "accept"; content: Record<string, boolean | string> } | { action: "decline" };

/** A client whose user gives the reply; without one it has no user. */
async function connect(era: Era, reply?: Reply): Promise<Connected> {
  const asked: string[] = [];
  const capabilities = reply === undefined ? {} : { elicitation: { form: {} } };
  const mode = era === "legacy" ? "legacy" : { pin: "2026-07-28" };
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { capabilities, versionNegotiation: { mode } },
  );
  if (reply !== undefined) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params.message);
      return reply;
    });
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
  return { client, asked };
}

async function execute(client: Client, program: string) {
  return (await client.callTool({ name: "execute_code", arguments: { code: program } })).structuredContent;
}

const yes: Reply = { action: "accept", content: { sure: true } };

beforeAll(async () => {
  const confirm = defineTool({
    description: "Ask the user.",
    execute: (_input, { elicit }) =>
      elicit({ mode: "form", message: "Are you sure?", requestedSchema: schema }),
  });
  let meeting = 0;
  let meet = (): void => {};
  const met = new Promise<void>((resolve) => (meet = resolve));
  /** Asks when it has been called twice. */
  const confirmTogether = defineTool({
    description: "Wait for another, then ask the user.",
    execute: async (_input, { elicit }) => {
      meeting += 1;
      if (meeting === 2) meet();
      await met;
      return elicit({ mode: "form", message: "Are you sure?", requestedSchema: schema });
    },
  });
  running = await runServer({
    cwd: mkdtempSync(path.join(os.tmpdir(), "cem-questions-")),
    transport: "http",
    port: 0,
    config: { logging: { level: "ERROR" } },
    tools: { lab: { confirm, confirm_together: confirmTogether } },
  });
});

afterAll(() => running.close(0));

describe.each<Era>(["modern", "legacy"])("questions of tools behind a server, by the %s protocol", (era) => {
  it("reach the user of the client whose run it is, with who asks", async () => {
    const { client, asked } = await connect(era, yes);
    expect(await execute(client, confirmOnce)).toMatchObject({ success: true, result: yes });
    expect(asked).toEqual(["lab asks: Are you sure?"]);
    await client.close();
  });

  it("can follow each other in one run, and come together", async () => {
    const { client, asked } = await connect(era, yes);
    const program = `import { confirm } from "./servers/lab/index.ts";
const first = await confirm();
const rest = await Promise.all([confirm(), confirm()]);
return [first, ...rest].map(({ action }) => action);`;
    expect(await execute(client, program)).toMatchObject({ result: ["accept", "accept", "accept"] });
    expect(asked).toHaveLength(3);
    await client.close();
  });

  it("are declined where the user declines", async () => {
    const { client } = await connect(era, { action: "decline" });
    expect(await execute(client, confirmOnce)).toMatchObject({ result: { action: "decline" } });
    await client.close();
  });

  it("are told that nobody could be asked where the client has no user", async () => {
    const { client } = await connect(era);
    const reason = "Nobody could be asked: the client can't ask its user.";
    expect(await execute(client, confirmOnce)).toMatchObject({ result: { action: "cancel", reason } });
    await client.close();
  });

  it("take no answer that does not fit them", async () => {
    const { client } = await connect(era, { action: "accept", content: { sure: "certainly" } });
    const { result } = (await execute(client, confirmOnce)) as { result: { action: string } };
    expect(result.action).not.toBe("accept");
    await client.close();
  });
});

it("questions reach each run's own user while several clients' runs are under way", async () => {
  const no: Reply = { action: "decline" };
  const [ada, bob] = [await connect("modern", yes), await connect("legacy", no)];
  const program = `import { confirm_together } from "./servers/lab/index.ts";\nreturn await confirm_together();`;
  const results = await Promise.all([execute(ada.client, program), execute(bob.client, program)]);
  expect(results).toMatchObject([{ result: yes }, { result: no }]);
  expect([ada.asked.length, bob.asked.length]).toEqual([1, 1]);
  await Promise.all([ada.client.close(), bob.client.close()]);
});
