import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../fixtures/temporary-folder.ts";
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
            "cwd": "\${CLAUDE_PROJECT_DIR:-.}\${pathSeparator}\${workspaceFolderBasename}\${/}",
            "env": { "KEY": "\${input:key}" },
          },
        },
      }`,
    );
    const { servers } = await read();
    expect(servers).toMatchObject([
      {
        name: "files",
        definition: {
          args: [`${cwd}/data`, home, "${TOKEN}", "${PORT:-80}"],
          cwd: `${cwd}/project/`,
          env: { KEY: "${input:key}" },
        },
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

describe("the files of", () => {
  it("Windsurf name the address serverUrl", async () => {
    await put(
      join(home, ".codeium/windsurf/mcp_config.json"),
      `{ "mcpServers": {
        "github": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"], "env": { "GITHUB_TOKEN": "\${env:GITHUB_TOKEN}" }, "disabledTools": ["fork"] },
        "remote": { "serverUrl": "https://x.example/mcp", "headers": { "API_KEY": "Bearer \${env:AUTH_TOKEN}", "K": "\${file:/run/key}" } }
      } }`,
    );
    expect((await read()).servers).toMatchObject([
      {
        name: "github",
        definition: {
          command: "npx",
          env: { GITHUB_TOKEN: "${GITHUB_TOKEN}" },
          blockedTools: ["fork"],
        },
        leftOut: [],
      },
      {
        definition: { url: "https://x.example/mcp", headers: { API_KEY: "Bearer ${AUTH_TOKEN}" } },
        leftOut: [],
        unresolved: ["${file:/run/key}"],
      },
    ]);
  });

  it("Zed are its settings, with commands of two shapes", async () => {
    await put(
      join(home, ".config/zed/settings.json"),
      `// Zed settings
      { "theme": "One Dark", "context_servers": {
        "local": { "source": "custom", "enabled": false, "command": "uv", "args": ["run", "main.py"], "env": {} },
        "older": { "command": { "path": "node", "args": ["a.js"], "env": { "A": "b" } }, "settings": { "x": 1 } },
        "remote": { "url": "https://x.example/mcp", "headers": { "Authorization": "Bearer t" } },
      } }`,
    );
    expect((await read()).servers).toMatchObject([
      { definition: { command: "uv", args: ["run", "main.py"], disabled: true }, leftOut: [] },
      { definition: { command: "node", args: ["a.js"], env: { A: "b" } }, leftOut: ["settings"] },
      { definition: { url: "https://x.example/mcp", headers: { Authorization: "Bearer t" } } },
    ]);
  });

  it("Codex are TOML, and name variables without their values", async () => {
    await put(
      join(home, ".codex/config.toml"),
      `model = "gpt-5"

[mcp_servers.docs]
command = "npx"
args = ["-y", "@upstash/context7-mcp"]
env_vars = ["LOCAL_TOKEN"]
startup_timeout_sec = 20
enabled_tools = ["a"]
disabled_tools = ["b"]

[mcp_servers.docs.env]
MODE = "fast"

[mcp_servers."fig.ma"]
url = "https://mcp.figma.example/mcp"
bearer_token_env_var = "FIGMA_TOKEN"
http_headers = { "X-Region" = "us" }
env_http_headers = { "X-Key" = "FIGMA_KEY" }
enabled = false
oauth = { client_id = "cid", callback_url = "http://127.0.0.1/callback/x" }
`,
    );
    await put(join(cwd, ".codex/config.toml"), "[mcp_servers.broken\ncommand = 'x'\ntoken = 'sk-secret'\n");
    const { servers, problems } = await read();
    expect(servers).toMatchObject([
      {
        name: "docs",
        definition: {
          command: "npx",
          env: { LOCAL_TOKEN: "${LOCAL_TOKEN}", MODE: "fast" },
          disabled: false,
          blockedTools: ["b"],
        },
        leftOut: ["startup_timeout_sec", "enabled_tools"],
      },
      {
        name: "fig.ma",
        definition: {
          url: "https://mcp.figma.example/mcp",
          headers: { "X-Region": "us", "X-Key": "${FIGMA_KEY}", Authorization: "Bearer ${FIGMA_TOKEN}" },
          disabled: true,
          auth: { client_id: "cid" },
        },
        leftOut: ["oauth.callback_url"],
      },
    ]);
    expect(problems).toEqual([
      {
        file: join(cwd, ".codex/config.toml"),
        message: expect.stringMatching(/^It is not valid TOML at line \d\.$/u),
      },
    ]);
  });

  it("Gemini CLI tell the transport by type or an older key, and write $NAME", async () => {
    await put(
      join(home, ".gemini/settings.json"),
      JSON.stringify({
        mcpServers: {
          python: {
            command: "python",
            args: ["-m", "s"],
            env: { KEY: "$MY_KEY" },
            cwd: "./s",
            timeout: 15000,
            trust: true,
            includeTools: ["echo"],
            excludeTools: ["get-env"],
          },
          older: {
            httpUrl: "https://x.example/mcp",
            url: "https://x.example/sse",
            type: "sse",
            headers: { Authorization: "Bearer ${T}" },
          },
          http: { url: "https://x.example/mcp", type: "http" },
          either: { url: "https://x.example/any" },
          sse: { url: "https://x.example/sse", type: "sse" },
        },
      }),
    );
    const { servers } = await read();
    expect(servers).toMatchObject([
      {
        definition: { command: "python", env: { KEY: "${MY_KEY}" }, cwd: "./s", blockedTools: ["get-env"] },
        leftOut: ["timeout", "trust", "includeTools"],
      },
      {
        definition: { url: "https://x.example/mcp", headers: { Authorization: "Bearer ${T}" }, type: "http" },
        leftOut: [],
      },
      { definition: { url: "https://x.example/mcp", type: "http" } },
      { definition: { url: "https://x.example/any" } },
      { definition: { url: "https://x.example/sse", type: "sse" } },
    ]);
    expect(servers[3]?.definition).not.toHaveProperty("type");
  });

  it("OpenCode have the command as a list, under mcp or mcp.servers", async () => {
    await put(
      join(home, ".config/opencode/opencode.json"),
      JSON.stringify({
        $schema: "https://opencode.ai/config.json",
        mcp: {
          local: {
            type: "local",
            command: ["bun", "x", "my-server"],
            enabled: true,
            environment: { A: "{env:A_KEY}" },
            timeout: 5,
          },
          remote: {
            type: "remote",
            url: "https://x.example/mcp",
            enabled: false,
            headers: { K: "{file:~/k}" },
            oauth: {},
          },
          anonymous: { type: "remote", url: "https://y.example/mcp", oauth: false },
        },
      }),
    );
    await put(
      join(cwd, "opencode.jsonc"),
      '{ "mcp": { "servers": { "two": { "type": "local", "command": ["npx", "-y", "two"], "disabled": true, }, }, }, }',
    );
    expect((await read()).servers).toMatchObject([
      {
        name: "local",
        definition: { command: "bun", args: ["x", "my-server"], env: { A: "${A_KEY}" }, disabled: false },
        leftOut: ["timeout"],
      },
      {
        name: "remote",
        definition: { url: "https://x.example/mcp", disabled: true },
        leftOut: [],
        unresolved: ["${file:~/k}"],
      },
      { name: "anonymous", leftOut: ["oauth"] },
      {
        name: "two",
        origin: { scope: "project" },
        definition: { command: "npx", args: ["-y", "two"], disabled: true },
      },
    ]);
  });

  it("Cursor and Claude Code may hold how to sign in, and more than can be taken over", async () => {
    await put(
      join(home, ".cursor/mcp.json"),
      JSON.stringify({
        mcpServers: {
          a: { command: "a", envFile: ".env" },
          b: { url: "https://x.example", auth: { CLIENT_ID: "x", CLIENT_SECRET: "${env:S}", scopes: ["r"] } },
        },
      }),
    );
    await put(
      join(cwd, ".mcp.json"),
      JSON.stringify({
        mcpServers: {
          c: { type: "stdio", command: "c", timeout: 600000, disabledTools: { all: true } },
          d: {
            type: "http",
            url: "https://x.example",
            oauth: { clientId: "y", callbackPort: 8765, scopes: "read  write", constructor: 1 },
          },
        },
      }),
    );
    expect(
      (await read()).servers.map(({ name, leftOut, definition }) => [name, leftOut, definition["auth"]]),
    ).toEqual([
      ["c", ["timeout", "disabledTools"], undefined],
      ["d", ["oauth.constructor"], { client_id: "y", callback_port: 8765, scopes: ["read", "write"] }],
      ["a", ["envFile"], undefined],
      ["b", [], { client_id: "x", client_secret: "${S}", scopes: ["r"] }],
    ]);
  });
});

describe("readClientConfigs of servers that are switched off elsewhere", () => {
  const off = async (): Promise<string[]> =>
    (await read()).servers.flatMap(({ name, definition }) => (definition["disabled"] === true ? [name] : []));
  const mcpServers = { a: { command: "a" }, b: { command: "b" }, c: { command: "c" } };

  it.each([
    [{ excluded: ["a", "x"] }, ["a"]],
    [{ allowed: ["a", "b"], excluded: ["b"] }, ["b", "c"]],
    [{ allowed: [] }, ["a", "b", "c"]],
    [{ excluded: "a", allowed: null }, []],
  ])("finds those of Gemini CLI with %j", async (mcp, expected) => {
    await put(join(home, ".gemini/settings.json"), JSON.stringify({ mcpServers, mcp }));
    await put(join(home, ".cursor/mcp.json"), JSON.stringify({ mcpServers: { a: { command: "a" } } }));
    expect(await off()).toEqual(expected);
  });

  it("finds those of Claude Code, for this project and for others", async () => {
    const projects = {
      [cwd]: { disabledMcpServers: ["user-off"], disabledMcpjsonServers: ["a"] },
      "/other": { mcpServers, disabledMcpServers: ["b"] },
    };
    const user = { "user-off": { command: "u" }, a: { command: "user's own" } };
    await put(join(home, ".claude.json"), JSON.stringify({ mcpServers: user, projects }));
    await put(join(cwd, ".mcp.json"), JSON.stringify({ mcpServers }));
    await put(join(cwd, ".claude/settings.local.json"), '{ "disabledMcpjsonServers": ["c"] }');
    const found = (await read()).servers.filter(({ definition }) => definition["disabled"] === true);
    expect(found.map(({ name, origin }) => [name, origin.scope, origin.project])).toEqual([
      ["user-off", "user", undefined],
      ["b", "project", "/other"],
      ["a", "project", cwd],
      ["c", "project", cwd],
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
