import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";
import { clientConfigFiles } from "./client-config-files.ts";
import { readClientConfigs } from "./client-configs.ts";

let home: string;
let cwd: string;
beforeEach(async () => {
  home = await temporaryFolder();
  cwd = join(home, "project");
});

async function put(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
const read = (): ReturnType<typeof readClientConfigs> =>
  readClientConfigs({ home, cwd, platform: "linux", environment: {} });

describe("readClientConfigs", () => {
  it("finds nothing where there is nothing", async () => {
    expect(await read()).toEqual({ servers: [], problems: [] });
  });

  it("finds the servers of each program, with where they come from", async () => {
    const one = (name: string): string => JSON.stringify({ mcpServers: { [name]: { command: name } } });
    await put(join(home, ".config/Claude/claude_desktop_config.json"), one("desktop"));
    await put(
      join(home, ".claude.json"),
      JSON.stringify({
        mcpServers: { code: { command: "code" } },
        projects: { "/other": { mcpServers: { other: { type: "http", url: "https://x.example" } } } },
      }),
    );
    await put(join(cwd, ".mcp.json"), one("shared"));
    await put(join(home, ".cursor/mcp.json"), one("cursor"));
    await put(join(cwd, ".cursor/mcp.json"), one("cursor-project"));
    await put(
      join(home, ".config/Code/User/mcp.json"),
      JSON.stringify({ servers: { vscode: { command: "v" } } }),
    );
    const { servers, problems } = await read();
    expect(problems).toEqual([]);
    expect(servers.map(({ name, origin }) => [name, origin.client, origin.scope, origin.project])).toEqual([
      ["desktop", "claude-desktop", "user", undefined],
      ["code", "claude-code", "user", undefined],
      ["other", "claude-code", "project", "/other"],
      ["shared", "claude-code", "project", cwd],
      ["cursor", "cursor", "user", undefined],
      ["cursor-project", "cursor", "project", cwd],
      ["vscode", "vscode", "user", undefined],
    ]);
    expect(servers.map(({ definition }) => definition["command"] ?? definition["url"])).toContain("v");
  });

  it("reads comments, trailing commas and the placeholders of VS Code", async () => {
    await put(
      join(cwd, ".vscode/mcp.json"),
      `\uFEFF{
        // what we use
        "inputs": [{ "id": "key", "type": "promptString" }],
        "servers": {
          "files": {
            "command": "server", /* the path */
            "args": ["\${workspaceFolder}/data", "\${userHome}", "\${env:TOKEN}", "\${PORT:-80}"],
            "env": { "KEY": "\${input:key}" },
          },
        },
      }`,
    );
    const { servers } = await read();
    expect(servers).toMatchObject([
      {
        name: "files",
        definition: { args: [`${cwd}/data`, home, "${TOKEN}", "${PORT:-80}"], env: { KEY: "${input:key}" } },
        unresolved: ["${input:key}"],
      },
    ]);
  });

  it("reports what it can't read and goes on", async () => {
    await put(join(home, ".cursor/mcp.json"), '{\n  "mcpServers": {,}\n}');
    await put(
      join(cwd, ".mcp.json"),
      JSON.stringify({ mcpServers: { a: { command: "a" }, b: "not a server" } }),
    );
    await mkdir(join(home, ".claude.json"));
    const { servers, problems } = await read();
    expect(servers.map(({ name }) => name)).toEqual(["a"]);
    expect(problems).toEqual([
      { file: join(home, ".claude.json"), message: "It can't be read (EISDIR)." },
      {
        file: join(home, ".cursor/mcp.json"),
        message: expect.stringContaining("not valid JSON at line 2") as string,
      },
    ]);
  });
});

describe("clientConfigFiles", () => {
  it("knows the places of each platform", () => {
    const files = (platform: NodeJS.Platform, environment = {}): string[] =>
      clientConfigFiles({ home: "/h", cwd: "/p", platform, environment }).map(({ file }) => file);
    expect(files("darwin")).toContain("/h/Library/Application Support/Claude/claude_desktop_config.json");
    expect(files("linux", { XDG_CONFIG_HOME: "/x" })).toContain("/x/Code/User/mcp.json");
    expect(files("win32", { APPDATA: "C:\\A" })).toContain("C:\\A\\Claude\\claude_desktop_config.json");
  });
});
