import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it, onTestFinished, vi } from "vitest";
import { runServer } from "../../index.ts";

vi.setConfig({ testTimeout: 240_000 });

/** A server on a machine with folders of its own, and how to call its tools. */
async function startMachine(root: string, machine: string) {
  const folder = path.join(root, machine);
  const running = await runServer({
    cwd: root,
    configFile: false,
    config: {
      store: { url: path.join(root, "shared"), files: "store" },
      execution: {
        workspaceDir: path.join(folder, "workspace"),
        skillsDir: path.join(folder, "skills"),
        serversDir: path.join(folder, "servers"),
        typeCheck: "off",
      },
      logging: { level: "ERROR" },
      optimizations: { toolCache: false },
    },
    transport: "http",
    port: 0,
  });
  onTestFinished(() => running.close());
  const client = new Client({ name: machine, version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
  onTestFinished(() => client.close());
  return async (name: string, args: Record<string, unknown>): Promise<unknown> =>
    (await client.callTool({ name, arguments: args })).structuredContent;
}

it("servers on machines of their own read and write one state, in programs and beside them", async () => {
  const root = mkdtempSync(path.join(os.tmpdir(), "shared-files-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [one, two] = [await startMachine(root, "one"), await startMachine(root, "two")];
  expect(await one("save_state", { state_data: { step: 1 } })).toMatchObject({ success: true });
  expect(await two("get_state", {})).toMatchObject({ exists: true, data: { step: 1 } });
  const code = `const file = "/workspace/state.json";
    const { step } = JSON.parse(await Deno.readTextFile(file));
    await Deno.writeTextFile(file, JSON.stringify({ step: step + 1 }));
    return step;`;
  expect(await two("execute_code", { code })).toMatchObject({ success: true, result: 1 });
  expect(await one("get_state", {})).toMatchObject({ data: { step: 2 } });
  expect(await one("save_state", { state_data: { step: 3 } })).toMatchObject({ success: true });
  expect(await two("get_state", {})).toMatchObject({ data: { step: 3 } });
});
