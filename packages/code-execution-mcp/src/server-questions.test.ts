import { mkdtempSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { JsonObject } from "@cem/core";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defineTool, runServer } from "./index.ts";
import type { RunningServer } from "./index.ts";

const schema: JsonObject = { type: "object", properties: { sure: { type: "boolean" } }, required: ["sure"] };
const code = `import { confirm } from "./servers/lab/index.ts";\nreturn await confirm();`;

let running: RunningServer;
let release = (): void => {};

/** A client of the older generation, whose user says yes; or one that has no user. */
async function connect(hasUser: boolean): Promise<{ client: Client; asked: string[] }> {
  const asked: string[] = [];
  const capabilities = hasUser ? { elicitation: { form: {} } } : {};
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { capabilities, versionNegotiation: { mode: "legacy" } },
  );
  if (hasUser) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params.message);
      return { action: "accept", content: { sure: true } };
    });
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
  return { client, asked };
}

function execute(client: Client, program: string) {
  return client.callTool({ name: "execute_code", arguments: { code: program } });
}

beforeAll(async () => {
  const waiting = new Promise<void>((resolve) => (release = resolve));
  const confirm = defineTool({
    description: "Ask the user.",
    execute: (_input, { elicit }) =>
      elicit({ mode: "form", message: "Are you sure?", requestedSchema: schema }),
  });
  const wait = defineTool({ description: "Wait.", execute: async () => waiting.then(() => "done") });
  running = await runServer({
    cwd: mkdtempSync(path.join(os.tmpdir(), "cem-questions-")),
    transport: "http",
    port: 0,
    config: { logging: { level: "ERROR" } },
    tools: { lab: { confirm, wait } },
  });
});

afterAll(() => running.close(0));

describe("questions of tools behind a server", () => {
  it("reach the user of the client whose run it is, with who asks", async () => {
    const { client, asked } = await connect(true);
    const { structuredContent } = await execute(client, code);
    expect(structuredContent).toMatchObject({ result: { action: "accept", content: { sure: true } } });
    expect(asked).toEqual(["lab asks: Are you sure?"]);
    await client.close();
  });

  it("are declined where the client has no user", async () => {
    const { client } = await connect(false);
    expect((await execute(client, code)).structuredContent).toMatchObject({ result: { action: "decline" } });
    await client.close();
  });

  it("are declined while another client's run is under way", async () => {
    const [one, other] = [await connect(true), await connect(true)];
    const waiting = execute(
      other.client,
      `import { wait } from "./servers/lab/index.ts";\nreturn await wait();`,
    );
    await expect.poll(() => running.server.runs.active).toBe(1);
    expect((await execute(one.client, code)).structuredContent).toMatchObject({
      result: { action: "decline" },
    });
    release();
    expect((await waiting).structuredContent).toMatchObject({ result: "done" });
    expect([...one.asked, ...other.asked]).toEqual([]);
    await Promise.all([one.client.close(), other.client.close()]);
  });
});
