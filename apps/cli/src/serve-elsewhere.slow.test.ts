import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { blocksOf, root } from "../../../docs/scripts/blocks.ts";
import { runCem, temporaryFolder } from "./testing/run-cem.ts";
import { COMPILE_CACHE, SHELL_COMMAND } from "./testing/spawn-cem.ts";

const FILE_SERVER = path.join(
  root,
  "packages/code-execution-mcp/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
);

interface ClientBlock {
  mcpServers: Record<string, { command: string; args: string[] }>;
}

/** The blocks for clients that start a server in a folder of their own. */
const BLOCKS = ["docs/tutorial/first-server.md", "README.md"].flatMap((document) =>
  blocksOf(document)
    .filter(({ language, code }) => language === "json" && code.includes("mcpServers"))
    .map(({ code }) => [document, code] as const),
);

/** A home that was empty before the tutorial, with the project that the tutorial makes. */
const home = temporaryFolder();
const project = path.join(home, "my-tools");
const bin = path.join(temporaryFolder(), "bin");

function makeCommand(name: string, line: string): void {
  writeFileSync(path.join(bin, name), `#!/bin/sh\n${line}\n`);
  chmodSync(path.join(bin, name), 0o755);
}

/** The names in a folder, of which a system's root has some that come and go by themselves. */
function namesIn(folder: string): string[] {
  return folder === "/proc" ? [] : readdirSync(folder).toSorted();
}

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

beforeAll(async () => {
  mkdirSync(bin);
  // npx -y <package>, with packages that are installed here.
  makeCommand("npx", `shift 2; exec ${SHELL_COMMAND} "$@"`);
  makeCommand("files", `exec '${process.execPath}' '${FILE_SERVER}' "$@"`);
  const env = { HOME: home, PATH: `${bin}:${process.env["PATH"]}` };
  await runCem(["init", "my-tools"], { cwd: home, env });
  mkdirSync(path.join(project, "notes"));
  writeFileSync(path.join(project, "notes/shopping.txt"), "Milk, bread, coffee\n");
  await runCem(["add", "files", "--", "files", "notes"], { cwd: project, env });
});

async function connect(block: string, cwd: string): Promise<Client> {
  const placed = block.replace(/\/[^"]*\/config\.yaml/u, path.join(project, "config.yaml"));
  const [entry] = Object.values((JSON.parse(placed) as ClientBlock).mcpServers);
  if (entry === undefined) throw new Error("The block names no server.");
  const transport = new StdioClientTransport({
    ...entry,
    cwd,
    env: { PATH: `${bin}:${process.env["PATH"]}`, HOME: home, NODE_COMPILE_CACHE: COMPILE_CACHE },
    stderr: "ignore",
  });
  const client = new Client({ name: "desktop", version: "1.0.0" });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return client;
}

/** Runs a command for the project, from a folder that stays empty. */
async function fromElsewhere(command: string, ...rest: string[]): Promise<string> {
  const args = [command, "--config", path.join(project, "config.yaml"), ...rest];
  const cwd = temporaryFolder();
  const env = { HOME: home, PATH: `${bin}:${process.env["PATH"]}` };
  const { code, stdout, stderr } = await runCem(args, { cwd, env });
  expect([args, code, stderr]).toEqual([args, 0, expect.any(String)]);
  expect([args, readdirSync(cwd)]).toEqual([args, []]);
  return stdout;
}

const PROGRAM = `import { read_text_file } from "./servers/files/index.ts";
import { writeFileSync } from "node:fs";
const { content } = await read_text_file({ path: "shopping.txt" });
writeFileSync("made-by-run.txt", content);
return content.split(",").length;`;

describe("the block that a desktop client is given", () => {
  it("stands in the tutorial and in README", () => {
    expect(BLOCKS.map(([document]) => document)).toEqual(["docs/tutorial/first-server.md", "README.md"]);
  });

  it.each([
    ["the client's own folder", () => temporaryFolder()],
    ["/", () => "/"],
    // Nobody can write there, not even the administrator.
    ["a folder that can't be written", () => (process.platform === "linux" ? "/proc" : "/")],
  ])("serves the project when it is started in %s", async (_, folder) => {
    for (const [, block] of folder() === "/" ? BLOCKS.slice(0, 1) : BLOCKS) {
      const cwd = folder();
      const before = namesIn(cwd);
      const client = await connect(block, cwd);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain("execute_code");
      const servers = await client.callTool({ name: "list_servers", arguments: {} });
      expect(JSON.stringify(servers)).toMatch(/files.*greeter|greeter.*files/su);
      const run = await client.callTool({ name: "execute_code", arguments: { code: PROGRAM } });
      expect(run.structuredContent).toMatchObject({ success: true, result: 3 });
      await client.close();
      expect(namesIn(cwd)).toEqual(before);
      expect(readFileSync(path.join(project, "workspace/made-by-run.txt"), "utf8")).toContain("Milk");
      expect(namesIn(project)).toContain(".cem");
    }
  });
});

describe("commands with --config", () => {
  const READING = [
    "servers",
    "skills",
    "workflow list",
    "customers list",
    "import",
    "runs",
    "trust",
    "doctor --security",
  ];
  it.each(READING)("cem %s works on the project and leaves its own folder as it is", async (words) => {
    const [command = "", ...rest] = words.split(" ");
    expect(await fromElsewhere(command, ...rest)).not.toBe("");
  });

  it("executes programs over the project's tools, with the project's records", async () => {
    const program = path.join(temporaryFolder(), "count.ts");
    writeFileSync(program, PROGRAM);
    expect(await fromElsewhere("exec", program, "-q")).toBe("3\n");
    expect(await fromElsewhere("call", "files.list_directory", '{"path": "."}')).toContain("shopping.txt");
    expect(await fromElsewhere("run", "Greet the person named Ada", "-q")).toContain("Hello, Ada!");
    expect(readdirSync(path.join(project, ".cem/runs")).length).toBeGreaterThan(0);
    expect(await fromElsewhere("tools", "files")).toContain("read_text_file");
    await fromElsewhere("generate", "files");
  });

  it("adds a server whose command and arguments count from the project, and removes it", async () => {
    writeFileSync(path.join(project, "files.sh"), `#!/bin/sh\nexec files "$@"\n`);
    chmodSync(path.join(project, "files.sh"), 0o755);
    await fromElsewhere("add", "more", "--", "./files.sh", "./notes");
    const listed = await fromElsewhere("call", "more.list_directory", '{"path": "."}');
    expect(listed).toContain("shopping.txt");
    await fromElsewhere("remove", "more");
    expect(readFileSync(path.join(project, "config.yaml"), "utf8")).not.toContain("more");
  });
});
