import { mkdtempSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defineTool, runServer } from "./index.ts";
import type { RunningServer } from "./index.ts";

const IMPORT = `import { find } from "./servers/crm/index.ts";\n`;

let running: RunningServer;
let client: Client;

beforeAll(async () => {
  const find = defineTool({
    description: "Find a customer.",
    execute: async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { name: "Ada" };
    },
  });
  running = await runServer({
    cwd: mkdtempSync(path.join(os.tmpdir(), "cem-unawaited-")),
    transport: "http",
    port: 0,
    config: { logging: { level: "ERROR" } },
    tools: { crm: { find } },
  });
  client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
});

afterAll(async () => {
  await client.close();
  await running.close(0);
});

async function execute(code: string) {
  const { structuredContent, content } = await client.callTool({ name: "execute_code", arguments: { code } });
  const texts = (content as { text?: string }[]).map(({ text }) => text ?? "");
  return { data: structuredContent, said: texts.slice(1).join("\n") };
}

describe("execute_code", () => {
  it("waits for a call that was not awaited, and says so with its line", async () => {
    const { data, said } = await execute(
      `${IMPORT}async function main() {\n  console.log(await find());\n}\nvoid main();\nconst done = true;`,
    );
    expect(data).toMatchObject({ success: true, output: expect.stringContaining("Ada") as string });
    expect(said).toContain("so the run waited for it: crm.find (line 3).");
    expect(said).not.toContain("failed");
  });

  it.each([
    ["main() without await", "async function main() { return await find(); }\nmain();"],
    ["main().then()", "const main = async () => find();\nmain().then((customer) => customer);"],
    ["a last expression", "await find()"],
  ])("gives the result of %s", async (_, code) => {
    const { data, said } = await execute(IMPORT + code);
    expect(data).toMatchObject({ success: true, result: { name: "Ada" } });
    expect(said).not.toMatch(/await|return/);
  });

  it("says that the code returned and printed nothing", async () => {
    const { data, said } = await execute(`${IMPORT}const customer = await find();`);
    expect(data).toMatchObject({ success: true, result: null });
    expect(said).toContain(
      "The code printed nothing, and its value is undefined or a function that nothing calls: end with `return …` or `export default …` of a value.",
    );
  });

  it("fails where work that was not awaited throws", async () => {
    const { data } = await execute(
      `${IMPORT}void (async () => {\n  const { name } = await find();\n  throw new Error("no " + name);\n})();\nreturn 1;`,
    );
    expect(data).toMatchObject({
      success: false,
      error: expect.stringMatching(/Line 4 .*no Ada/) as string,
    });
  });
});
