import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { reference } from "../test/upstream-project.ts";
import { promoteSkill } from "./admin/skills.ts";
import { runServer } from "./index.ts";
import type { ConfigInput, RunServerOptions } from "./index.ts";

vi.setConfig({ testTimeout: 120_000 });

const LONG_MS = 30_000;
const serversDir = fileURLToPath(new URL("../../../servers", import.meta.url));
const MODES = ["legacy", { pin: "2026-07-28" }] as const;
const DOUBLE = "export const twice = (x: number): number => 2 * x;\n";
const TEST = 'import { twice } from "./skills/twice/index.ts";\nreturn twice(4) === 8;';

let folder: string;
const skillsDir = () => path.join(folder, "skills");
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "cem-skills-mcp-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

const configFor = (more: ConfigInput = {}): ConfigInput => ({
  execution: { workspaceDir: path.join(folder, "workspace"), serversDir, skillsDir: skillsDir() },
  optimizations: { toolCache: false },
  logging: { level: "CRITICAL" },
  ...more,
});

async function writeFiles(below: string, files: Record<string, string>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(below, file)), { recursive: true });
    await writeFile(path.join(below, file), text);
  }
}

const manifest = (name: string, description = `Does ${name}.`): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\nHow to use it.\n`;

async function serve(more: ConfigInput = {}, options: RunServerOptions = {}): Promise<string> {
  const running = await runServer({
    transport: "http",
    port: 0,
    configFile: false,
    config: configFor(more),
    ...options,
  });
  onTestFinished(() => running.close(0));
  return running.url ?? "";
}

async function connect(
  target: string | StdioClientTransport,
  mode: (typeof MODES)[number],
  headers: Record<string, string> = {},
) {
  const changed = { resources: 0 };
  const client = new Client(
    { name: "c", version: "1" },
    {
      versionNegotiation: { mode },
      listChanged: { resources: { autoRefresh: false, onChanged: () => changed.resources++ } },
    },
  );
  const transport =
    typeof target === "string"
      ? new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers } })
      : target;
  await client.connect(transport);
  onTestFinished(() => client.close());
  const skills = new SkillsClient(client);
  const names = async () => (await skills.list()).skills.map(({ uri }) => uri);
  const call = async (name: string, args: object = {}) => {
    const answer = await client.callTool({ name, arguments: { ...args } });
    if (answer.isError === true) throw new Error(JSON.stringify(answer.content));
    return answer.structuredContent;
  };
  return { client, skills, names, call, changed };
}

/** A server of its own process. */
function stdio(): StdioClientTransport {
  const entry = new URL("index.ts", import.meta.url).href;
  const options = { configFile: false, config: configFor() };
  const program = `const { runServer } = await import(${JSON.stringify(entry)}); await runServer(${JSON.stringify(options)});`;
  return new StdioClientTransport({
    command: process.execPath,
    args: ["--conditions=@cem/source", "--input-type=module", "-e", program],
    cwd: folder,
  });
}

describe.each(MODES)("skills over MCP: %j", (mode) => {
  it.each(["http", "stdio"])("are listed, read and verified, each file of each: %s", async (over) => {
    const script = 'export const shout = (text: string): string => text + "!";\n';
    await writeFiles(skillsDir(), {
      "report/SKILL.md": manifest("report"),
      "report/scripts/format.ts": script,
      "report/references/a b&c.md": "# Notes\n",
      "double_number/SKILL.md": manifest("double_number", '"Doubles: one number."'),
      "double_number/index.ts": DOUBLE,
      ".proposals/secret/SKILL.md": manifest("secret"),
    });
    const { client, skills, call } = await connect(over === "http" ? await serve() : stdio(), mode);
    expect(skills).toMatchObject({ supported: true, directoryRead: true });
    const { skills: entries } = await skills.list();
    expect(entries.map(({ uri }) => uri)).toEqual([
      "skill://double-number/SKILL.md",
      "skill://report/SKILL.md",
    ]);
    for (const entry of entries) {
      expect((await skills.get(entry.uri)).skill).toEqual(entry);
      if (entry.resources === "dynamic") throw new Error("not verifiable");
      for (const { uri } of entry.resources)
        expect(await skills.read(entry, uri)).toMatchObject({ verified: true });
    }
    const [double, report] = entries;
    if (double === undefined || report === undefined) throw new Error("missing");
    expect(await skills.read(double)).toMatchObject({
      frontmatter: { name: "double-number", description: "Doubles: one number." },
      body: expect.stringContaining("How to use it."),
    });
    expect((await skills.read(report, "scripts/format.ts")).text).toBe(script);
    const { resources } = await skills.readDirectory("skill://report");
    expect(resources.map(({ uri }) => uri).toSorted()).toEqual([
      "skill://report/SKILL.md",
      "skill://report/references",
      "skill://report/scripts",
    ]);
    const listed = (await client.listResources()).resources.map(({ uri }) => uri);
    expect(listed).toEqual(["skill://double-number/SKILL.md", "skill://report/SKILL.md"]);
    if (over === "stdio") return;
    const code = 'import { twice } from "./skills/double_number/index.ts";\nreturn twice(21);';
    expect(await call("execute_code", { code })).toMatchObject({ result: 42 });
  });

  it("are those of now: proposals are none, until one is promoted, and what is removed is gone", async () => {
    const url = await serve();
    const { skills, names, call, changed } = await connect(url, mode);
    expect(await names()).toEqual([]);
    await call("save_skill", { name: "twice", description: "Double it.", code: DOUBLE, test: TEST });
    expect(await names()).toEqual([]);
    await expect(skills.get("skill://twice/SKILL.md")).rejects.toThrow("No skill is served");
    await promoteSkill("twice", { configFile: false, config: configFor() });
    expect(await names()).toEqual(["skill://twice/SKILL.md"]);
    await vi.waitFor(() => expect(changed.resources).toBeGreaterThan(0), LONG_MS);
    const before = changed.resources;
    await rename(path.join(skillsDir(), "twice"), path.join(folder, "gone"));
    expect(await names()).toEqual([]);
    await expect(skills.get("skill://twice/SKILL.md")).rejects.toThrow("No skill is served");
    await vi.waitFor(() => expect(changed.resources).toBeGreaterThan(before), LONG_MS);
  });
});

describe("skills over MCP", () => {
  it("are each customer's own and the shared ones", async () => {
    await writeFiles(skillsDir(), { "shared/SKILL.md": manifest("shared") });
    const of = (id: string) => path.join(folder, "workspaces", id, "skills");
    await writeFiles(of("ada"), {
      "mine/SKILL.md": manifest("mine", "canary-of-ada"),
      "mine/index.ts": DOUBLE,
    });
    await writeFiles(of("bob"), { "mine/SKILL.md": manifest("mine", "of bob") });
    const customers = {
      header: "x-customer",
      trustedProxies: ["127.0.0.1"],
      dir: path.join(folder, "workspaces"),
    };
    const url = await serve({ customers });
    for (const mode of MODES) {
      const [ada, bob, eve] = await Promise.all(
        ["ada", "bob", "eve"].map((name) => connect(url, mode, { "x-customer": name })),
      );
      if (ada === undefined || bob === undefined || eve === undefined) throw new Error("missing");
      const own = ["skill://mine/SKILL.md", "skill://shared/SKILL.md"];
      expect(await ada.names()).toEqual(own);
      expect(await bob.names()).toEqual(own);
      expect(await eve.names()).toEqual(own.slice(1));
      expect(JSON.stringify(await ada.skills.list())).toContain("canary-of-ada");
      for (const other of [bob, eve]) {
        const seen = [await other.skills.list(), await other.client.listResources()];
        const tries = [
          "skill://mine/SKILL.md",
          "skill://mine/index.ts",
          "skill://mine/../../ada/skills/mine/SKILL.md",
        ];
        for (const uri of [
          ...tries,
          "skill://ada/SKILL.md",
          "skill://..%2f..%2fada%2fskills%2fmine/SKILL.md",
        ]) {
          const answer = await other.client.readResource({ uri }).catch((error: unknown) => String(error));
          seen.push(answer as never);
        }
        expect(JSON.stringify(seen)).not.toMatch(/canary-of-ada|2 \* x/u);
      }
      await expect((await connect(url, mode)).names()).rejects.toThrow(/which customer/u);
    }
  });

  it("stand beside what servers behind expose", async () => {
    await writeFiles(skillsDir(), { "report/SKILL.md": manifest("report") });
    const url = await serve(
      { mcpServers: { everything: reference("everything") } },
      { expose: ["resources"] },
    );
    for (const mode of MODES) {
      const { client, skills } = await connect(url, mode);
      const { skills: entries } = await skills.list();
      expect(await skills.read(entries[0] as never)).toMatchObject({ verified: true });
      const uris = (await client.listResources()).resources.map(({ uri }) => uri);
      expect(uris).toContain("skill://report/SKILL.md");
      const theirs = uris.find((uri) => uri.startsWith("mcp://everything/")) ?? "";
      expect((await client.readResource({ uri: theirs })).contents).not.toEqual([]);
      const templates = (await client.listResourceTemplates()).resourceTemplates;
      expect(templates.map(({ uriTemplate }) => uriTemplate)).toContain("skill://{+path}");
      await expect(client.readResource({ uri: "skill://nobody/SKILL.md" })).rejects.toThrow(/not found/iu);
    }
  });
});

describe("a folder of skills as others write them", () => {
  it("is served with a front matter that the protocol takes, and nothing outside of it", async () => {
    await writeFile(path.join(folder, "secret.txt"), "canary");
    await writeFiles(skillsDir(), {
      "Other_Name/SKILL.md":
        '---\nname: Other Name\ndescription: |\n  Two\n  lines: of "it".\nmetadata:\n  version: 1.5\n---\nHow.\n',
      "other-name/SKILL.md": manifest("other-name"),
      "bare/index.ts": DOUBLE,
      "long/SKILL.md": manifest("long", "x".repeat(3_000)),
      "notes.md": "not a skill",
    });
    await symlink(path.join(folder, "secret.txt"), path.join(skillsDir(), "bare/secret.txt"));
    await symlink(folder, path.join(skillsDir(), "linked"));
    const { skills } = await connect(await serve(), { pin: "2026-07-28" });
    const { skills: entries } = await skills.list();
    const read = await Promise.all(
      entries.map(async (entry) => [entry.uri, await skills.read(entry)] as const),
    );
    expect(read.map(([uri, { frontmatter, body }]) => [uri, frontmatter?.["name"], body?.trim()])).toEqual([
      ["skill://bare/SKILL.md", "bare", 'Code imports it from "./skills/bare/index.ts".'],
      ["skill://long/SKILL.md", "long", "# long\n\nHow to use it."],
      ["skill://other-name/SKILL.md", "other-name", "# other-name\n\nHow to use it."],
      ["skill://other-name-2/SKILL.md", "other-name-2", "How."],
    ]);
    expect(JSON.stringify(entries)).not.toContain("secret");
    await expect(skills.read(entries[0] as never, "secret.txt")).rejects.toThrow(/secret\.txt/u);
  });

  it("of more than a page is listed whole", async () => {
    const names = Array.from({ length: 120 }, (_, index) => `s${index}`);
    await writeFiles(
      skillsDir(),
      Object.fromEntries(names.map((name) => [`${name}/SKILL.md`, manifest(name)])),
    );
    const { names: listed } = await connect(await serve(), "legacy");
    expect(new Set(await listed()).size).toBe(120);
  });
});
