import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { blocksOf, root } from "./scripts/blocks.ts";

const SERVER = path.join(
  root,
  "packages/code-execution-mcp/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
);

it("does what the tutorial says, step by step", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tutorial-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const commands = path.join(folder, "bin");
  // npx -y @modelcontextprotocol/server-filesystem, which is installed here.
  mkdirSync(commands);
  const npx = path.join(commands, "npx");
  const serve = `shift 2; exec "${process.execPath}" "${SERVER}" "$@"`;
  const other = `PATH="${process.env["PATH"]}" exec npx "$@"`;
  const script = `#!/bin/sh\ncase "$2" in *server-filesystem) ${serve};; *) ${other};; esac\n`;
  writeFileSync(npx, script, { mode: 0o755 });
  const blocks = blocksOf("docs/tutorial/first-server.md")
    .filter(({ language }) => language === "sh")
    .map(({ code }) => code);
  const isPathLine = (code: string): boolean => code.startsWith("export PATH=");
  const [pathLine = "", ...others] = blocks.filter(isPathLine);
  expect(others).toEqual([]);
  expect(readFileSync(path.join(root, "README.md"), "utf8")).toContain(`\n${pathLine.trim()}`);
  const steps = blocks
    .filter((code) => !isPathLine(code))
    // The line for the clone takes its place.
    .map((code) => code.replace(/^npm install --global .*\n/mu, ""));
  const { status, stdout, stderr } = spawnSync("sh", ["-e"], {
    cwd: folder,
    encoding: "utf8",
    input: `cd "${root}"\n${pathLine}\ncd "${folder}"\n${steps.join("\necho ---\n")}`,
    env: { ...process.env, HOME: folder, PATH: `${commands}:${process.env["PATH"]}` },
  });
  expect([status, stderr]).toEqual([0, expect.any(String)]);
  const [, greeting, tools, count, cost] = stdout.split("---\n");
  expect(greeting).toContain("Hello, Ada!");
  expect(tools).toContain("read_text_file");
  expect(count?.trimEnd()).toMatch(/(?:^|\s)3$/u);
  expect(cost).toMatch(/tokens/u);
});
