import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it, vi } from "vitest";
import { makeProject, reference } from "../test/upstream-project.ts";
import { generateTools } from "./admin.ts";
import { runServer } from "./index.ts";

/** Two MCP servers and a sandbox start, perhaps on a busy machine. */
vi.setConfig({ testTimeout: 240_000 });

const LINES = 40_000;

it.each(["legacy", { pin: "2026-07-28" }] as const)(
  "a model searches, reads a definition, runs code over two MCP servers and reads a page of the result: %j",
  async (mode) => {
    const project = await makeProject();
    const data = path.join(project.folder, "data");
    await mkdir(data);
    const file = path.join(data, "big.txt");
    await writeFile(file, Array.from({ length: LINES }, (_, line) => `line ${line}`).join("\n"));
    const servers = { everything: reference("everything"), files: reference("filesystem", data) };
    await generateTools(project.source(servers));
    const running = await runServer({
      ...project.source(servers, { logging: { level: "ERROR" } }),
      transport: "http",
      port: 0,
    });
    const client = new Client({ name: "model", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
    const call = async (name: string, args: object) =>
      (await client.callTool({ name, arguments: { ...args } })).structuredContent;

    const found = await call("search_tools", { query: "read a text file", detail_level: "name" });
    expect(JSON.stringify(found)).toContain("read_text_file");
    const definitions = await call("get_server_tools", { server_name: "everything" });
    expect(JSON.stringify(definitions)).toContain("get_sum");

    const answer = await call("execute_code", {
      code: `import { get_sum } from "./servers/everything/index.ts";
import { read_text_file } from "./servers/files/index.ts";
const [sum, text] = await Promise.all([get_sum({ a: 20, b: 22 }), read_text_file({ path: ${JSON.stringify(file)} })]);
return { sum, text };`,
    });
    expect(answer).toMatchObject({ success: true, result: { type: "json", path: expect.any(String) } });
    const { path: handle, size } = (answer as { result: { path: string; size: number } }).result;
    expect(size).toBeGreaterThan(LINES * "line 1".length);
    const page = await call("read_result", { handle, offset: 0, limit: 1_000 });
    expect(JSON.stringify(page)).toContain("The sum of 20 and 22 is 42.");
    await client.close();
    await running.close(0);
  },
);
