import path from "node:path";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
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
    expect(migration.config).toMatchObject({ file: "config.cem.yaml", from: "config.yaml", isThere: false });
    expect(migration.works).toContain("workspace/state.json  is read as it is");
    const left = migration.left.map(({ place, reason }) => `${place} ${reason}`).join("\n");
    for (const text of [
      "SANDBOX_TYPE: auto takes",
      "AGENTKERNEL_DISABLE_POOLING",
      "AZURE_OPENAI_ENDPOINT",
      "old.pkl is pickled",
      ".replay 1 logs",
      "servers/math/add.py is written in Python: rewrite it as servers/math/add.ts",
      "servers/weather/now.py calls the MCP server weather",
      "workspace/skills/clean.py is written in Python: rewrite it as skills/clean/index.ts",
    ])
      expect(left).toContain(text);
    expect(left).not.toMatch(/_helper|test_add|__init__/u);
  });

  it("shows no secret in a diff", async () => {
    const { config } = await planMigration(projectWith(PROJECT));
    const diff = config === undefined ? "" : diffOf(config);
    expect(diff).toContain("+  sandbox_type: auto # why");
    expect(diff).not.toContain("sk-secret");
  });

  it("says what of a configuration it can't mend", async () => {
    const broken = await planMigration(projectWith({ "config.yaml": "llm: [a\n" }));
    expect(broken.config).toBeUndefined();
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
      {
        name: "each",
        type: "loop",
        config: {
          steps: [{ name: "oldest", type: "code_execution", config: { code: "x = 1\nprint(x)\n" } }],
        },
      },
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
      'step "old" of "w" is written in Python',
      'step "older" of "w" is written in Python',
      'step "oldest" of "w" is written in Python',
      "skills/bare.py is written in Python",
      ...ANSWER_DIFFERENCES.map(({ reason }) => reason),
    ])
      expect(before).toContain(text);
    expect(before).not.toContain('step "new"');
    const migration = await planMigration(folder);
    await writeMigration(migration);
    expect(await reasons()).toBe(before);
    mkdirSync(path.join(folder, "skills/bare"));
    writeFileSync(path.join(folder, "skills/bare/index.ts"), "export const run = 1;\n");
    expect(await reasons()).not.toContain("skills/bare.py");
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
    const folder = projectWith({ "config.yaml": "execution: {servers_dir: ../x}\n" });
    const { left } = await planMigration(folder);
    expect(left[0]?.reason).toContain("execution.servers_dir leads out of the project");
  });
});
