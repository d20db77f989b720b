import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, it, onTestFinished, vi } from "vitest";
import { SAMPLES, temporaryFolder } from "./testing/run-cem.ts";
import { CEM_COMMAND, COMPILE_CACHE } from "./testing/spawn-cem.ts";

const [node = "", ...BEFORE] = CEM_COMMAND;
const CODE = `import { write_file } from "./servers/filesystem/index.ts";
const made = [];
for (const path of ["first.txt", "second.txt"]) made.push(await write_file({ path, content: "text" }).catch(({ code }) => code));
return made;`;

vi.setConfig({ testTimeout: 120_000 });

it.each(["legacy", "modern"] as const)(
  "cem serve has the user of a %s client decide what a tool file writes",
  async (era) => {
    const cwd = temporaryFolder();
    writeFileSync(
      path.join(cwd, "config.yaml"),
      "execution:\n  type_check: off\nguardrails:\n  approvals: [writes]\n",
    );
    const asked: string[] = [];
    const client = new Client(
      { name: "test", version: "1.0.0" },
      {
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
      },
    );
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params.message);
      const answer = params.message.includes("first.txt") ? "No" : "Yes, this once";
      return { action: "accept" as const, content: { answer } };
    });
    const args = [...BEFORE, "serve", ...SAMPLES];
    const env = { ...getDefaultEnvironment(), NODE_COMPILE_CACHE: COMPILE_CACHE };
    await client.connect(new StdioClientTransport({ command: node, args, cwd, env, stderr: "ignore" }));
    onTestFinished(() => client.close());
    const { structuredContent } = await client.callTool({ name: "execute_code", arguments: { code: CODE } });
    expect(structuredContent).toMatchObject({
      success: true,
      result: ["NOT_APPROVED", { path: "second.txt", bytes: 4 }],
    });
    expect(asked).toEqual([
      expect.stringContaining("filesystem.write_file, and its server marks it as destructive"),
      expect.stringContaining("second.txt"),
    ]);
    expect(existsSync(path.join(cwd, "workspace/first.txt"))).toBe(false);
    expect(readFileSync(path.join(cwd, "workspace/second.txt"), "utf8")).toBe("text");
  },
);
