import { mkdtempSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { defineTool, runServer } from "./index.ts";
import type { RunningServer } from "./index.ts";

type Era = "modern" | "legacy";

const folder = mkdtempSync(path.join(os.tmpdir(), "cem-approvals-"));
const auditFile = path.join(folder, "audit.jsonl");
const removeBoth = `import { remove } from "./servers/crm/index.ts";
return await Promise.all([remove({ id: "c1" }), remove({ id: "c2" })]);`;

let running: RunningServer;
let removed: string[] = [];

beforeAll(async () => {
  running = await runServer({
    cwd: folder,
    transport: "http",
    port: 0,
    config: { logging: { level: "CRITICAL", auditFile }, guardrails: { maxExecutionTime: 2.5 } },
    tools: {
      crm: {
        remove: defineTool({
          description: "Remove a contact.",
          annotations: { destructiveHint: true },
          input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
          execute: ({ id }) => {
            removed.push(JSON.stringify(id));
            return { ok: true };
          },
        }),
      },
    },
  });
});
beforeEach(() => {
  removed = [];
});
afterAll(() => running.close(0));

/** A client whose user gives the reply after a while; without one it has no user. */
async function execute(era: Era, reply: string | undefined, waitMs = 0) {
  const asked: string[] = [];
  const mode = era === "legacy" ? "legacy" : { pin: "2026-07-28" };
  const capabilities = reply === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { capabilities, versionNegotiation: { mode } },
  );
  if (reply !== undefined) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params.message);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      return reply === "decline"
        ? { action: "decline" as const }
        : { action: "accept" as const, content: { answer: reply } };
    });
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
  const found = await client.callTool({ name: "search_tools", arguments: { query: "remove a contact" } });
  const names = await client.callTool({ name: "get_server_tools", arguments: { server_name: "crm" } });
  const result = await client.callTool({ name: "execute_code", arguments: { code: removeBoth } });
  await client.close();
  return { answer: result.structuredContent, asked, lists: JSON.stringify([found, names]) };
}

describe.each<Era>(["modern", "legacy"])("calls that need a yes, by the %s protocol", (era) => {
  it("show the user what will be done with which arguments, while the run's clock stands still", async () => {
    const { answer, asked, lists } = await execute(era, "Yes, this once", 2_700);
    expect(lists).toContain("crm: all. Needs the user's yes.");
    expect(lists).not.toContain("can't ask");
    expect(answer).toMatchObject({ success: true, result: [{ ok: true }, { ok: true }] });
    expect(asked).toEqual([
      expect.stringContaining(
        '2 calls that need a yes, and asks for all of them at once. crm.remove: { "id": "c1" };',
      ),
    ]);
    expect(asked[0]).toContain('crm.remove: { "id": "c2" }');
    expect(removed.toSorted()).toEqual(['"c1"', '"c2"']);
  });

  it.each(["No", "decline", "Of course", undefined])("are not made after %s", async (reply) => {
    const { answer } = await execute(era, reply);
    expect(answer).toMatchObject({
      success: false,
      error: expect.stringContaining("crm.remove was not called"),
    });
    expect(removed).toEqual([]);
  });

  it("say what lets them through where nobody can be asked", async () => {
    const { answer, lists } = await execute(era, undefined);
    expect(JSON.stringify(answer)).toContain("guardrails.approvals");
    expect(lists.match(/Refused: it needs the user's yes, which this client can't ask for/gu)).toHaveLength(
      3,
    );
  });
});

it("the audit log has all of it and no values", async () => {
  const entries = readFileSync(auditFile, "utf8").trimEnd().split("\n");
  const types = new Set(entries.map((line) => (JSON.parse(line) as { type: string }).type));
  expect(types).toEqual(
    new Set(["run-started", "verdict", "approval", "call-started", "call", "refusal", "run-ended"]),
  );
  expect(entries.join("\n")).not.toMatch(/"c1"|"c2"/);
});
