import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { blocksOf, root } from "./scripts/blocks.ts";

/** Twenty commands, each of which starts a process or several. */
vi.setConfig({ testTimeout: 400_000 });

const SERVERS = path.join(root, "packages/code-execution-mcp/node_modules/@modelcontextprotocol");
const blocksIn = (document: string): string[] =>
  blocksOf(document)
    .filter(({ language }) => language === "sh")
    .map(({ code }) => code);
const isPathLine = (code: string): boolean => code.startsWith("export PATH=");
const pathLine = blocksIn("docs/tutorial/first-server.md").find(isPathLine) ?? "";

/** An empty folder, which is the home as well, with an `npx` for servers that are installed here. */
function emptyHome(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "tutorial-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(path.join(folder, "bin"));
  const serve = `name=\${2##*/}; shift 2; exec "${process.execPath}" "${SERVERS}/$name/dist/index.js" "$@"`;
  const other = `PATH="${process.env["PATH"]}" exec npx "$@"`;
  const script = `#!/bin/sh\ncase "$2" in @modelcontextprotocol/*) ${serve};; *) ${other};; esac\n`;
  writeFileSync(path.join(folder, "bin/npx"), script, { mode: 0o755 });
  return folder;
}

/** Output of the steps, after the line that puts the clone's `cem` on the PATH. They stop at the first that fails. */
function outputsOf(folder: string, steps: readonly string[]): string[] {
  const { status, stdout, stderr } = spawnSync(
    "sh",
    ["-e", "-c", `cd "${root}"\n${pathLine}\ncd "${folder}"\n${steps.join("\necho ---\n")}`],
    {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, HOME: folder, PATH: `${path.join(folder, "bin")}:${process.env["PATH"]}` },
      input: "",
    },
  );
  expect([status, status === 0 ? "" : stdout + stderr]).toEqual([0, ""]);
  return stdout.split("---\n");
}

it("does what the tutorial says, step by step", () => {
  const blocks = blocksIn("docs/tutorial/first-server.md");
  expect(blocks.filter(isPathLine)).toEqual([pathLine]);
  expect(readFileSync(path.join(root, "README.md"), "utf8")).toContain(`\n${pathLine.trim()}`);
  const steps = blocks
    .filter((code) => !isPathLine(code))
    // The line for the clone takes its place.
    .map((code) => code.replace(/^npm install --global .*\n/mu, ""));
  const [, greeting, tools, count, cost] = outputsOf(emptyHome(), steps);
  expect(greeting).toContain("Hello, Ada!");
  expect(tools).toContain("read_text_file");
  expect(count?.trimEnd()).toMatch(/(?:^|\s)3$/u);
  expect(cost).toMatch(/tokens/u);
});

it("does what the README's blocks say, beside the samples", () => {
  const folder = emptyHome();
  for (const name of ["servers", "skills"])
    cpSync(path.join(root, name), path.join(folder, name), { recursive: true });
  writeFileSync(path.join(folder, "program.ts"), "export default 40 + 2;\n");
  const steps = blocksIn("README.md")
    .filter((code) => code.startsWith("cem "))
    // The reader's own task, and a proposal of a model.
    .map((code) => code.replace('"…"', '"Calculate 5 + 3"').replace(/^cem skills promote .*\n/mu, ""));
  const [servers, use, skills, runs, ...rest] = outputsOf(folder, steps);
  expect(rest).toEqual([]);
  expect(servers).toMatch(/everything +ready/u);
  expect(use).toMatch(
    /count +16[^]*\n +42\n[^]*weather\.get_forecast[^]*deno +deno[^]*made +servers[^]*\n +42\n$/u,
  );
  expect(skills).toContain("return x * 2;");
  expect(runs).toMatch(/^\n +run-[\w-]+ +success [^]*\n +42\n$/u);
});
