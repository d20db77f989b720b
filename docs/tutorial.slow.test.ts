import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { blocksOf, root } from "./scripts/blocks.ts";

const SERVER = path.join(
  root,
  "packages/code-execution-mcp/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
);

/** Makes a command that runs a module of this repository. */
function makeCommand(folder: string, name: string, module: string, dropped: number): void {
  const file = path.join(folder, name);
  mkdirSync(folder, { recursive: true });
  const shift = dropped === 0 ? "" : `shift ${dropped}\n`;
  writeFileSync(
    file,
    `#!/bin/sh\n${shift}exec "${process.execPath}" --conditions=@cem/source "${module}" "$@"\n`,
  );
  chmodSync(file, 0o755);
}

it("does what the tutorial says, step by step", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tutorial-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const commands = path.join(folder, "bin");
  makeCommand(commands, "cem", path.join(root, "apps/cli/src/cem.ts"), 0);
  // npx -y @modelcontextprotocol/server-filesystem, which is installed here.
  makeCommand(commands, "npx", SERVER, 2);
  const steps = blocksOf("docs/tutorial/first-server.md")
    .filter(({ language }) => language === "sh")
    // Both ways to come by the command: it is on the PATH here.
    .map(({ code }) => code.replace(/^npm install --global .*\n/mu, ""))
    .filter((code) => !code.startsWith("export PATH="));
  const { status, stdout, stderr } = spawnSync("sh", ["-e"], {
    cwd: folder,
    encoding: "utf8",
    input: steps.join("\necho ---\n"),
    env: { ...process.env, HOME: folder, PATH: `${commands}:${process.env["PATH"]}` },
  });
  expect([status, stderr]).toEqual([0, expect.any(String)]);
  const [, greeting, tools, count, cost] = stdout.split("---\n");
  expect(greeting).toContain("Hello, Ada!");
  expect(tools).toContain("read_text_file");
  expect(count?.trimEnd()).toMatch(/(?:^|\s)3$/u);
  expect(cost).toMatch(/tokens/u);
});
