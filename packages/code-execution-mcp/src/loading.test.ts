import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";

/** Each test starts a process, and two of them a sandbox, perhaps on a busy machine. */
vi.setConfig({ testTimeout: 120_000 });

const run = promisify(execFile);
const HOOKS = `
import { registerHooks } from "node:module";
const loaded = new Set();
registerHooks({
  load(url, context, next) {
    const found = /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? /\\/packages\\/([^/]+)\\/src\\//.exec(url);
    if (found !== null) loaded.add(found[1]);
    return next(url, context);
  },
});
process.on("exit", () => console.log(JSON.stringify([...loaded].sort())));
`;

/** The packages that a program in a process of its own loads: ours by their folders, others by their names. */
async function packagesOf(program: string): Promise<string[]> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "loading-"));
  const hooks = path.join(folder, "hooks.mjs");
  const main = path.join(folder, "main.mjs");
  const entry = new URL("index.ts", import.meta.url).href;
  await writeFile(hooks, HOOKS);
  await writeFile(main, `const cem = await import(${JSON.stringify(entry)});\n${program}`);
  const args = ["--conditions=@cem/source", "--import", hooks, main];
  const { stdout } = await run(process.execPath, args, { cwd: folder });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as string[];
}

describe("code-execution-mcp", () => {
  it("loads what declares its functions, and nothing else, when it is imported", async () => {
    expect(await packagesOf("")).toEqual([
      "agent",
      "bridge",
      "code-execution-mcp",
      "core",
      "fastest-levenshtein",
      "mcp-server",
      "stemmer",
    ]);
  });

  it("loads for given code no selector, no generator and no client of servers", async () => {
    const loaded = await packagesOf(`
      const agent = cem.createAgent({ configFile: false });
      const { status, error } = await agent.executeCode("return 1;");
      if (status !== "success") throw new Error(JSON.stringify(error));
      await agent.dispose();`);
    expect(loaded).toEqual(
      expect.arrayContaining(["config", "discovery", "guardrails", "pii", "sandbox-deno"]),
    );
    for (const unneeded of [
      "selector",
      "codegen",
      "chrono-node",
      "@modelcontextprotocol/client",
      "tool-files",
      "yaml",
      "ajv",
    ]) {
      expect(loaded).not.toContain(unneeded);
    }
  });

  it("loads nothing that finds values of persons where that is off", async () => {
    const loaded = await packagesOf(`
      const config = { guardrails: { piiDetection: false } };
      const agent = cem.createAgent({ configFile: false, config });
      const { value } = await agent.executeCode("return 'ada@example.com';");
      if (value !== "ada@example.com") throw new Error(String(value));
      await agent.dispose();`);
    expect(loaded).not.toContain("pii");
    expect(loaded).not.toContain("libphonenumber-js");
  });

  it("loads for the list of tools neither a sandbox nor a compiler", async () => {
    const loaded = await packagesOf(`
      const agent = cem.createAgent({ configFile: false });
      await agent.discoverTools();
      await agent.dispose();`);
    for (const unneeded of ["sandbox", "sandbox-deno", "type-check", "guardrails", "program", "selector"]) {
      expect(loaded).not.toContain(unneeded);
    }
  });
});
