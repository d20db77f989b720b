import path from "node:path";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { describe, expect, it, onTestFinished } from "vitest";
import { ANSWER_DIFFERENCES } from "./differences.ts";
import { diffOf, writeMigration } from "./migration.ts";
import { planMigration } from "./plan-migration.ts";

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
  ".env":
    "SANDBOX_TYPE=microsandbox\nMCP_SERVER_WEATHER_URL=http://localhost:9\nAGENTKERNEL_DISABLE_POOLING=1\nAZURE_OPENAI_ENDPOINT=https://a.example\n",
  "servers/math/__init__.py": '"""Mathematics."""\nfrom .add import add\n',
  "servers/math/add.py": TOOL,
  "servers/math/_helper.py": "def x(): pass\n",
  "servers/math/test_add.py": "def test_add(): pass\n",
  "servers/weather/now.py": CALLER,
  "workspace/skills/clean.py": SKILL,
  "workspace/state.json": "{}",
  "workspace/old.pkl": "x",
  "workspace/.replay/a.jsonl": "{}",
};

describe("planMigration", () => {
  it("reads a project and changes nothing", async () => {
    const folder = projectWith(PROJECT);
    const migration = await planMigration(folder);
    expect(filesOf(folder)).toEqual(PROJECT);
    expect(migration.files.map(({ file }) => file)).toEqual([
      "config.cem.yaml",
      "servers/math/add.ts",
      "servers/math/index.ts",
      "skills/clean/SKILL.md",
      "skills/clean/index.ts",
    ]);
    expect(migration.servers).toEqual([{ name: "weather", tools: ["now"], isConfigured: true }]);
    expect(migration.works).toContain("workspace/state.json  is read as it is");
    const left = migration.left.map(({ place, reason }) => `${place} ${reason}`).join("\n");
    for (const text of [
      "SANDBOX_TYPE: auto takes",
      "AGENTKERNEL_DISABLE_POOLING",
      "AZURE_OPENAI_ENDPOINT",
      "old.pkl is pickled",
      ".replay 1 logs",
    ])
      expect(left).toContain(text);
  });

  it("shows no secret in a diff", async () => {
    const { files } = await planMigration(projectWith(PROJECT));
    const diff = files.map(diffOf).join("\n");
    expect(diff).toContain("+  sandbox_type: auto # why");
    expect(diff).not.toContain("sk-secret");
  });

  it("says what of a configuration it can't mend", async () => {
    const broken = await planMigration(projectWith({ "config.yaml": "llm: [a\n" }));
    expect(broken.files).toEqual([]);
    expect(broken.left).toEqual([
      { place: "config.yaml", reason: expect.stringContaining("lacks a closing bracket") },
      ...ANSWER_DIFFERENCES,
    ]);
    const bad = await planMigration(
      projectWith({ "config.yaml": "llm:\n  temperature: hot\n", ".env": "SANDBOX_TYPE=monty\n" }),
    );
    expect(bad.left.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('config.yaml:2  llm.temperature  is "hot"'),
      expect.stringContaining("Monty runs Python; write auto."),
      ...ANSWER_DIFFERENCES.map(({ reason }) => reason),
    ]);
  });

  it("says what loads and is something else here, also when it was migrated", async () => {
    const steps = [
      { name: "old", type: "code_execution", config: { code: "# Extract\ndata = [1]\nprint(data)\n" } },
      { name: "older", type: "code_execution", config: { code: 'if x:\n  raise ValueError("no")\n' } },
      { name: "new", type: "code_execution", config: { code: "return 1;\n" } },
    ];
    const config = {
      execution: { sandbox_type: "microsandbox", msb_server_url: "http://localhost:5555" },
      optimizations: { file_content_cache: true },
      guardrails: { content_filtering: true },
      workflows: [{ name: "w", description: "d", version: "1", steps }],
    };
    const folder = projectWith({
      "config.yaml": JSON.stringify(config),
      ".env": "MSB_SERVER_URL=http://localhost:5555\n",
      "skills/bare.py": "def run():\n    return 1\n",
    });
    const reasons = async (): Promise<string> =>
      (await planMigration(folder)).left.map(({ place, reason }) => `${place} ${reason}`).join("\n");
    const before = await reasons();
    for (const text of [
      "optimizations.file_content_cache",
      "guardrails.content_filtering",
      "execution.msb_server_url",
      ".env MSB_SERVER_URL",
      'step "old" of "w" is Python',
      'step "older" of "w" is Python',
      "bare/SKILL.md has no description",
      "bare/index.ts throws",
      ...ANSWER_DIFFERENCES.map(({ reason }) => reason),
    ])
      expect(before).toContain(text);
    expect(before).not.toContain('step "new"');
    const migration = await planMigration(folder);
    await writeMigration(migration);
    expect(await reasons()).toBe(before);
    writeFileSync(path.join(folder, "skills/bare/SKILL.md"), "---\nname: bare\ndescription: Mine.\n---\n");
    expect(await reasons()).not.toContain("bare/SKILL.md");
  });

  it("finds nothing in an empty folder", async () => {
    expect(await planMigration(projectWith({}))).toMatchObject({ isProject: false, files: [] });
  });
});

describe("writeMigration", () => {
  it("makes the files, and the second time none", async () => {
    const folder = projectWith(PROJECT);
    expect(await writeMigration(await planMigration(folder))).toHaveLength(5);
    const files = filesOf(folder);
    expect(files).toMatchObject(PROJECT);
    expect(files["config.cem.yaml"]).toBe(
      "# mine\nexecution:\n  sandbox_type: auto # why\n  sandbox_image: auto\n  state: { state_format: binary }\nllm:\n  api_key: sk-secret\n",
    );
    expect(files["servers/math/index.ts"]).toBe('/** Mathematics. */\nexport { add } from "./add.ts";\n');
    expect(files["skills/clean/SKILL.md"]).toContain("name: clean\ndescription: Cleans a file.\n");
    const again = await planMigration(folder);
    // Until somebody writes the bodies.
    expect(again.left.filter(({ reason }) => reason.startsWith("throws"))).toHaveLength(2);
    expect(await writeMigration(again)).toEqual([]);
    expect(filesOf(folder)).toEqual(files);
  });

  it("keeps files that are there, also those that appear after the plan", async () => {
    const folder = projectWith({ ...PROJECT, "servers/math/add.ts": "mine" });
    const migration = await planMigration(folder);
    writeFileSync(path.join(folder, "config.cem.yaml"), "mine");
    const made = await writeMigration(migration);
    expect(made.map(({ file }) => file)).toEqual([
      "servers/math/index.ts",
      "skills/clean/SKILL.md",
      "skills/clean/index.ts",
    ]);
    expect(filesOf(folder)).toMatchObject({ "servers/math/add.ts": "mine", "config.cem.yaml": "mine" });
  });

  it("writes nothing outside of the project", async () => {
    const elsewhere = projectWith({});
    const folder = projectWith({
      "config.yaml": "execution: {servers_dir: ../x}\n",
      "workspace/skills/clean.py": SKILL,
    });
    symlinkSync(elsewhere, path.join(folder, "skills"));
    const migration = await planMigration(folder);
    expect(migration.left[0]?.reason).toContain("execution.servers_dir leads out of the project");
    expect(await writeMigration(migration)).toEqual([]);
    expect(readdirSync(elsewhere)).toEqual([]);
  });
});
