import path from "node:path";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { describe, expect, it, onTestFinished } from "vitest";
import { planMigration, writeMigration } from "./plan-migration.ts";

const TOOL = 'def add(a: float, b: float) -> float:\n    """Adds."""\n    return a + b\n';
const CALLER =
  'from client.mcp_client import call_mcp_tool\ndef now(city: str) -> dict:\n    return call_mcp_tool(server_name="weather", tool_name="now", parameters={"city": city})\n';
const SKILL =
  '"""\nskill_name: clean\ndescription: Cleans a file.\nTags: csv\n"""\n\ndef run(path: str) -> list:\n    return []\n';

function projectWith(files: Record<string, string>): string {
  const folder = mkdtempSync(path.join(tmpdir(), "cem-migrate-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

/** Every file of a folder with its text. */
function filesOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    names
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [
        path.relative(folder, path.join(parentPath, name)),
        readFileSync(path.join(parentPath, name), "utf8"),
      ]),
  );
}

const PROJECT = {
  "config.yaml":
    "# mine\nexecution:\n  sandbox_type: Microsandbox # why\n  sandbox_image: python\n  foo: 1\n  state: {state_format: pickle}\nllm:\n  api_key: sk-secret\n",
  "servers/math/__init__.py": '"""Mathematics."""\nfrom .add import add\n',
  "servers/math/add.py": TOOL,
  "servers/math/_helper.py": "def x(): pass\n",
  "servers/math/test_add.py": "def test_add(): pass\n",
  "servers/weather/now.py": CALLER,
  "workspace/skills/clean.py": SKILL,
};

describe("planMigration", () => {
  it("reads a project and changes nothing", async () => {
    const folder = projectWith(PROJECT);
    const migration = await planMigration(folder);
    expect(filesOf(folder)).toEqual(PROJECT);
    expect(migration.config).toMatchObject({ file: "config.cem.yaml", from: "config.yaml", isThere: false });
    expect(migration.changes.join("\n")).not.toContain("sk-secret");
    const left = migration.left.map(({ place, reason }) => `${place} ${reason}`).join("\n");
    for (const text of [
      "servers/math/add.py is Python: write it as servers/math/add.ts",
      "servers/weather/now.py calls the MCP server weather",
      "workspace/skills/clean.py is Python: write it as skills/clean/index.ts",
    ])
      expect(left).toContain(text);
    expect(left).not.toMatch(/_helper|test_add|__init__/u);
  });

  it("says what of a configuration it can't mend", async () => {
    const broken = await planMigration(projectWith({ "config.yaml": "llm: [a\n" }));
    expect(broken.config).toBeUndefined();
    expect(broken.left).toEqual([
      { place: "config.yaml", reason: expect.stringContaining("lacks a closing bracket") },
    ]);
    const bad = await planMigration(projectWith({ "config.yaml": "llm:\n  temperature: hot\n" }));
    expect(bad.left.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('config.yaml:2  llm.temperature  is "hot"'),
    ]);
  });

  it("looks where the configuration says, and not for what is written already", async () => {
    const folder = projectWith({
      "config.yaml": "execution:\n  servers_dir: ./tools\n  skills_dir: know-how\n",
      "tools/math/add.py": TOOL,
      "know-how/bare.py": "def run():\n    return 1\n",
    });
    const places = async () => (await planMigration(folder)).left.map(({ place }) => place);
    expect(await places()).toEqual(["tools/math/add.py", "know-how/bare.py"]);
    mkdirSync(path.join(folder, "know-how/bare"));
    writeFileSync(path.join(folder, "know-how/bare/index.ts"), "export const run = 1;\n");
    expect(await places()).toEqual(["tools/math/add.py"]);
  });

  it("finds nothing in an empty folder", async () => {
    expect(await planMigration(projectWith({}))).toMatchObject({ isProject: false, left: [] });
  });
});

describe("writeMigration", () => {
  it("writes the configuration, and the second time nothing", async () => {
    const folder = projectWith(PROJECT);
    expect(await writeMigration(await planMigration(folder))).toBe(true);
    const files = filesOf(folder);
    expect(files).toEqual({ ...PROJECT, "config.cem.yaml": expect.any(String) });
    expect(files["config.cem.yaml"]).toBe(
      "# mine\nexecution:\n  sandbox_type: auto # why\n  sandbox_image: auto\n  state: { state_format: binary }\nllm:\n  api_key: sk-secret\n",
    );
    expect(await writeMigration(await planMigration(folder))).toBe(false);
    expect(filesOf(folder)).toEqual(files);
  });

  it("keeps a file that appears after the plan", async () => {
    const folder = projectWith(PROJECT);
    const migration = await planMigration(folder);
    writeFileSync(path.join(folder, "config.cem.yaml"), "mine");
    expect(await writeMigration(migration)).toBe(false);
    expect(filesOf(folder)).toEqual({ ...PROJECT, "config.cem.yaml": "mine" });
  });

  it("looks at nothing outside of the project", async () => {
    const folder = projectWith({
      "config.yaml": "execution: {servers_dir: ../x}\n",
      "servers/a/b.py": TOOL,
    });
    expect((await planMigration(folder)).left.map(({ place }) => place)).toEqual(["servers/a/b.py"]);
  });
});
