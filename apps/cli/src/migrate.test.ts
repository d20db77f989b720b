import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { runCem, temporaryFolder } from "./testing/run-cem.ts";

vi.setConfig({ testTimeout: 120_000 });

const TOOL = 'def add(a: float, b: float) -> float:\n    """Add two numbers."""\n    return a + b\n';

function project(): string {
  const folder = temporaryFolder();
  mkdirSync(path.join(folder, "servers/calculator"), { recursive: true });
  writeFileSync(path.join(folder, "servers/calculator/add.py"), TOOL);
  writeFileSync(path.join(folder, "config.yaml"), "execution:\n  sandbox_type: microsandbox\n");
  return folder;
}

describe("cem migrate", () => {
  it("looks, then writes the configuration that it showed", async () => {
    const cwd = project();
    const shown = await runCem(["migrate"], { cwd });
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).toContain("+  sandbox_type: auto");
    expect(shown.stdout).toMatch(
      /servers\/calculator\/add\.py is\s+written\s+in\s+Python:\s+rewrite\s+it\s+as\s+servers\/calculator\/add\.ts/u,
    );
    expect(shown.stdout).toContain("cem migrate --write");
    expect(existsSync(path.join(cwd, "config.cem.yaml"))).toBe(false);

    expect((await runCem(["tools"], { cwd })).stderr).toMatch(
      /1 file in servers\/ is in Python, which does not run here: calculator\/add\.py\.\s+See what is left to do with: +cem migrate/u,
    );
    const made = await runCem(["migrate", "--write", "--json"], { cwd });
    expect(JSON.parse(made.stdout)).toMatchObject({
      status: "success",
      files: [{ file: "config.cem.yaml", state: "made" }],
      next: ["mv config.yaml config.python.yaml && mv config.cem.yaml config.yaml", "cem init", "cem doctor"],
    });
    expect(readFileSync(path.join(cwd, "servers/calculator/add.py"), "utf8")).toBe(TOOL);
  });

  it("says that a folder has nothing to move", async () => {
    const ended = await runCem(["migrate"], { cwd: temporaryFolder() });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain("has nothing of the Python original");
  });

  it("is what the guide's commands are", async () => {
    const guide = readFileSync(
      path.resolve(import.meta.dirname, "../../../docs/how-to/migrate-from-python.md"),
      "utf8",
    );
    const names = new Set([...guide.matchAll(/\bcem ([a-z]+)/gu)].map(([, name = ""]) => name));
    expect(names.size).toBeGreaterThan(8);
    for (const name of names)
      expect([name, (await runCem([name, "--help"], { cwd: temporaryFolder() })).code]).toEqual([name, 0]);
  });
});
