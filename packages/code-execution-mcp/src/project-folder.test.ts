import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { generateTools } from "./admin.ts";
import { createAgent } from "./index.ts";

/** Answers one tool: the folder that the server was started in, and its first argument. */
const SERVER = `import { createInterface } from "node:readline";
const tool = { name: "where", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };
const answers = {
  initialize: () => ({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "w", version: "1" } }),
  "tools/list": () => ({ tools: [tool] }),
  "tools/call": () => ({ content: [{ type: "text", text: process.cwd() + " " + process.argv[2] }] }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.() ?? {} }));
}`;

const folder = (): string => mkdtempSync(path.join(os.tmpdir(), "cem-project-"));

it("takes the folder of the configuration file for the project, and leaves the one of cwd as it is", async () => {
  const [project, cwd] = [folder(), folder()];
  mkdirSync(path.join(project, "bin"));
  writeFileSync(path.join(project, "bin/server.mjs"), `#!${process.execPath}\n${SERVER}`, { mode: 0o755 });
  writeFileSync(path.join(project, ".env"), "LOG_FILE=logs/cem.log\n");
  writeFileSync(
    path.join(project, "cem.yaml"),
    "mcp_servers:\n  here: {command: ./bin/server.mjs, args: [./data]}\n  there: {command: ./server.mjs, cwd: bin, args: [x]}\n",
  );
  const configFile = path.relative(cwd, path.join(project, "cem.yaml"));
  await generateTools({ cwd, configFile, trustFolder: true });
  const agent = createAgent({ cwd, configFile, records: true, trustFolder: true });
  const code = `import * as here from "./servers/here/index.ts";
import * as there from "./servers/there/index.ts";
await Deno.writeTextFile("made.txt", "x");
return [await here.where({}), await there.where({})];`;
  const outcome = await agent.executeCode(code);
  await agent.dispose();
  expect([outcome.error, outcome.value]).toEqual([
    null,

    [`${project} ./data`, `${path.join(project, "bin")} x`],
  ]);
  expect(readdirSync(cwd)).toEqual([]);
  expect(readdirSync(project)).toEqual(expect.arrayContaining([".cem", "logs", "workspace"]));
  expect(readdirSync(path.join(project, "workspace"))).toContain("made.txt");
}, 60_000);
