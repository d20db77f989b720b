import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { defineTool } from "@cem/bridge";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it, onTestFinished } from "vitest";
import { runServer } from "../../create-server.ts";

it("has a call before it is made; where the log breaks in it, its result is told, and no run begins any more", async () => {
  const cwd = await mkdtemp(path.join(os.tmpdir(), "cem-audited-"));
  const folder = path.join(cwd, "logs");
  const auditFile = path.join(folder, "audit.jsonl");
  const away = `${folder}-away`;
  const types = async (place: string): Promise<string[]> => {
    const lines = (await readFile(path.join(place, "audit.jsonl"), "utf8")).trimEnd().split("\n");
    return lines.map((line) => (JSON.parse(line) as { type: string }).type);
  };
  const sent: string[][] = [];
  const send = defineTool({
    description: "Send a mail.",
    execute: async () => {
      sent.push(await types(folder));
      await rename(folder, away);
      await writeFile(folder, "no folder");
      return "sent";
    },
  });
  const logged: string[] = [];
  const running = await runServer({
    cwd,
    transport: "http",
    port: 0,
    config: { logging: { auditFile, level: "CRITICAL" }, guardrails: { approvals: [] } },
    tools: { mails: { send } },
    log: (level, message) => void (level === "critical" && logged.push(message)),
  });
  const client = new Client({ name: "model", version: "1" });
  onTestFinished(async () => {
    await client.close();
    await running.close(0);
    await rm(cwd, { recursive: true, force: true });
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
  const ready = async (): Promise<number> => (await fetch(new URL("/readyz", running.url))).status;
  const code = `import { send } from "./servers/mails/index.ts"; return await send();`;
  const execute = async () => {
    const { structuredContent, content } = await client.callTool({
      name: "execute_code",
      arguments: { code },
    });
    return structuredContent ?? content;
  };
  await expect.poll(ready).toBe(200);
  expect(await execute()).toMatchObject({ success: true, result: "sent" });
  expect(sent.map((before) => before.slice(-3))).toEqual([["run-started", "verdict", "call-started"]]);
  expect(await types(away)).toEqual(sent[0]);
  expect(logged).toEqual(Array(2).fill(expect.stringContaining("The end of a call or run is missing: run-")));
  expect(JSON.stringify(await execute())).toMatch(/does not work now \(AUDIT_UNWRITABLE\)\. Try again/u);
  expect(sent).toHaveLength(1);
  expect(await ready()).toBe(503);
  await rm(folder);
  await rename(away, folder);
  expect(await ready()).toBe(200);
});
