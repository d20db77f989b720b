import { chmod, mkdir, rename, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { folderWith } from "../test/config-folder.ts";
import { addTrust, loadConfig, type LoadConfigOptions, readTrust, removeTrust, trustFile } from "./index.ts";

const KEY = { OPENAI_API_KEY: "sk-of-the-user" };
const ELSEWHERE = "llm: {enabled: true, base_url: 'https://u:p@stranger.example/v1?x=1'}";
const NODE = "mcpServers: {files: {command: node, args: [server.js]}}";

/** An environment whose settings folder is empty. */
async function homeEnv(more: Record<string, string> = {}): Promise<Record<string, string>> {
  return { XDG_CONFIG_HOME: await folderWith({}), ...more };
}

async function load(files: Record<string, string>, options: LoadConfigOptions = {}) {
  const cwd = await folderWith(files);
  return loadConfig({ cwd, env: await homeEnv(KEY), ...options });
}

/** The names of what is held back. */
async function held(cwd: string, env: Record<string, string>): Promise<string[]> {
  const { trust } = await loadConfig({ cwd, env, trustFolder: false });
  return trust.held.map(({ kind, name }) => `${kind} ${name}`);
}

async function trustAll(cwd: string, env: Record<string, string>): Promise<void> {
  const { trust } = await loadConfig({ cwd, env, trustFolder: false });
  await addTrust(trustFile(env), trust.folder, trust.requested);
}

describe("a URL that the folder names", () => {
  it("does not get a key of the user's own, and the model is off", async () => {
    const { config, trust } = await load({ "config.yaml": ELSEWHERE });
    expect(config.llm.enabled).toBe(false);
    expect(trust.held).toMatchObject([
      {
        kind: "key",
        name: "llm.api_key",
        text: "your key (environment OPENAI_API_KEY) is sent to https://stranger.example, which only files of this folder name",
      },
      {
        kind: "setting",
        name: "llm.enabled",
        text: expect.stringMatching(/^true: .*tasks, tools and data are sent to it, which costs money/),
      },
      { kind: "setting", name: "llm.base_url" },
    ]);
    expect(JSON.stringify(trust.held)).not.toContain("u:p");
  });

  it.each<[string, Record<string, string>, LoadConfigOptions]>([
    ["in .env", { ".env": "LLM_ENABLED=1\nLLM_BASE_URL=https://stranger.example" }, {}],
    ["in a file that .env names", { ".env": "CEM_CONFIG=other.yaml", "other.yaml": ELSEWHERE }, {}],
    [
      "for Azure",
      { ".env": "LLM_ENABLED=1\nAZURE_OPENAI_ENDPOINT=https://stranger.example" },
      { env: { AZURE_OPENAI_API_KEY: "k" } },
    ],
    [
      "for embeddings",
      { "config.yaml": "llm: {embedding_model: m, base_url: 'https://stranger.example'}" },
      {},
    ],
    [
      "for a microsandbox",
      { ".env": "MSB_SERVER_URL=https://stranger.example" },
      { env: { MSB_API_KEY: "k" } },
    ],
    [
      "with a key from arguments",
      { "config.yaml": ELSEWHERE },
      { env: {}, config: { llm: { apiKey: "k" } } },
    ],
    ["though .env trusts the folder", { "config.yaml": ELSEWHERE, ".env": "CEM_TRUST_FOLDER=1" }, {}],
    [
      "though another folder is trusted",
      { "config.yaml": ELSEWHERE },
      { env: { ...KEY, CEM_TRUST_FOLDER: "/" } },
    ],
    [
      "though the command line names the file",
      { "mine.yaml": ELSEWHERE },
      { configFile: "mine.yaml", trustFolder: false },
    ],
    ["on this machine", { "config.yaml": "llm: {enabled: true, base_url: 'http://127.0.0.1:4000/v1'}" }, {}],
    ["on this machine, by its name", { ".env": "LLM_ENABLED=1\nLLM_BASE_URL=http://localhost:4000" }, {}],
    [
      "though the user enables the model",
      { "config.yaml": "llm: {base_url: 'https://stranger.example'}" },
      { env: { ...KEY, LLM_ENABLED: "1" } },
    ],
    [
      "of a provider that only the folder names",
      { "config.yaml": "llm: {enabled: true, provider: anthropic}" },
      { env: { LLM_API_KEY: "k" } },
    ],
    [
      "of another provider, for embeddings",
      { "config.yaml": "llm: {provider: anthropic, embedding_model: m}" },
      { env: { ANTHROPIC_API_KEY: "k" } },
    ],
  ])("does not get it %s", async (_, files, options) => {
    const { config, trust } = await load(files, options);
    expect(trust.held[0]).toMatchObject({ kind: "key" });
    expect(config.llm).toMatchObject({ enabled: false, provider: "openai" });
    expect([config.llm.embeddingModel, config.execution.msbServerUrl]).toEqual([undefined, undefined]);
  });

  it("gets the key where the user named the file, the URL or the folder", async () => {
    const cwd = await folderWith({ "mine.yaml": ELSEWHERE, "config.yaml": ELSEWHERE });
    const url = "https://mine.example";
    const env = await homeEnv({ ...KEY, LLM_ENABLED: "1" });
    const named: LoadConfigOptions[] = [
      { configFile: "mine.yaml" },
      { env: { ...env, CEM_CONFIG: "mine.yaml" } },
      { env: { ...env, LLM_BASE_URL: url } },
      { config: { llm: { baseUrl: url } } },
      { trustFolder: true },
      { env: { ...env, CEM_TRUST_FOLDER: "1" } },
      { env: { ...env, CEM_TRUST_FOLDER: ["/elsewhere", cwd].join(path.delimiter) } },
    ];
    for (const options of named) {
      const { config, trust } = await loadConfig({ cwd, env, ...options });
      expect([config.llm.enabled, trust.held]).toEqual([true, []]);
    }
  });

  it("gets what it is asked only after a yes, also with a key that stands beside it", async () => {
    const files = { "config.yaml": ELSEWHERE, ".env": "OPENAI_API_KEY=sk-of-the-folder" };
    const { config, trust } = await load(files, { env: {} });
    expect(config.llm.enabled).toBe(false);
    expect(trust.held.map(({ name }) => name)).toEqual(["llm.enabled", "llm.api_key", "llm.base_url"]);
    expect(JSON.stringify(trust)).not.toContain("sk-of-the-folder");
  });

  it("needs no yes where no model is asked", async () => {
    const files = {
      "config.yaml": "llm: {base_url: 'https://x.example', model: m}",
      ".env": "OPENAI_API_KEY=k",
    };
    expect((await load(files, { env: {} })).trust.requested).toEqual([]);
  });
});

describe("what a folder asks for", () => {
  it("is held back until it is trusted, and again when any of it changes", async () => {
    const env = await homeEnv();
    const cwd = await folderWith({
      "config.yaml": NODE,
      "server.js": 'import "./lib/deep.js";',
      "unrelated.js": "",
    });
    await mkdir(path.join(cwd, "lib"));
    await writeFile(path.join(cwd, "lib/deep.js"), "1");
    expect(await held(cwd, env)).toEqual(["server files"]);
    await trustAll(cwd, env);
    expect(await held(cwd, env)).toEqual([]);
    await writeFile(path.join(cwd, "unrelated.js"), "2");
    expect(await held(cwd, env)).toEqual([]);
    for (const [file, text] of [
      ["config.yaml", NODE.replace("server.js", "server.js, --all")],
      ["lib/deep.js", "evil()"],
      ["server.js", "evil()"],
    ] as const) {
      await writeFile(path.join(cwd, file), text);
      const { trust } = await loadConfig({ cwd, env });
      expect([file, trust.held]).toMatchObject([
        file,
        [{ name: "files", before: { text: expect.stringContaining("node") } }],
      ]);
      await trustAll(cwd, env);
    }
  });

  it.each<[string, string, string]>([
    ["a value in .env that a command uses", ".env", "WHAT=evil.js"],
    ["a file that a variable of a command names", "hook.cjs", "evil()"],
    [".npmrc, which says where npx loads from", ".npmrc", "registry=https://stranger.example"],
    ["a package that npx would take instead", "node_modules/some-server/package.json", "{}"],
    ["a program that npx would take instead", "node_modules/.bin/some-server", "#!/bin/sh"],
    ["package.json with a program of that name", "package.json", '{"bin":{"some-server":"x.js"}}'],
  ])("includes %s", async (_, file, text) => {
    const env = await homeEnv();
    const command =
      "mcpServers: {a: {command: npx, args: [-y, some-server@1, '${WHAT:-x}'], env: {NODE_OPTIONS: '--require ./hook.cjs'}}}";
    const cwd = await folderWith({ "config.yaml": command });
    await trustAll(cwd, env);
    expect(await held(cwd, env)).toEqual([]);
    await mkdir(path.dirname(path.join(cwd, file)), { recursive: true });
    await writeFile(path.join(cwd, file), text);
    expect(await held(cwd, env)).toEqual(["server a"]);
  });

  it.each<[string, string, string[]]>([
    ["JSON lines", '{"name":"ada"}\n{"name":"bob"}', []],
    ["an SQLite database", "SQLite format 3\0\u0010", []],
    ["a large SQLite database", `SQLite format 3\0${"x".repeat(17 * 1024 * 1024)}`, []],
    ["code", "evil()", ["server a"]],
    ["code after JSON lines", '{"name":"ada"}\nevil()', ["server a"]],
  ])("counts what a server writes into its file only where it may be code: %s", async (_, text, expected) => {
    const env = await homeEnv();
    const command = "mcpServers: {a: {command: mcp-memory, args: [--x], env: {MEMORY_FILE_PATH: ./m.jsonl}}}";
    const cwd = await folderWith({ "config.yaml": command });
    await trustAll(cwd, env);
    await writeFile(path.join(cwd, "m.jsonl"), text);
    expect(await held(cwd, env)).toEqual(expected);
  });

  it.each([
    "bash, args: [m.jsonl]",
    "perl, args: [m.jsonl]",
    "python3.12, args: [m.jsonl]",
    "uvx, args: [python, m.jsonl]",
    "awk, args: [-f, m.jsonl]",
    "./m.jsonl",
    "node, args: [m.jsonl], env: {BASH_ENV: m.jsonl}",
  ])("includes data that may be code for its program: %s", async (command) => {
    const env = await homeEnv();
    const cwd = await folderWith({ "config.yaml": `mcpServers: {a: {command: ${command}}}` });
    await trustAll(cwd, env);
    await writeFile(path.join(cwd, "m.jsonl"), '"$(evil) @{[evil()]}"');
    expect(await held(cwd, env)).toEqual(["server a"]);
  });

  it("includes data for a link to a program elsewhere", async () => {
    const env = await homeEnv();
    const cwd = await folderWith({ "config.yaml": "mcpServers: {a: {command: ./mcp, args: [m.jsonl]}}" });
    await symlink(process.execPath, path.join(cwd, "mcp"));
    await trustAll(cwd, env);
    await writeFile(path.join(cwd, "m.jsonl"), '"@{[evil()]}"');
    expect(await held(cwd, env)).toEqual(["server a"]);
  });

  it("includes a started program that looks like a database", async () => {
    const env = await homeEnv();
    const cwd = await folderWith({ "config.yaml": "mcpServers: {a: {command: ./mcp}}" });
    await trustAll(cwd, env);
    await writeFile(path.join(cwd, "mcp"), "SQLite format 3\0\nevil");
    expect(await held(cwd, env)).toEqual(["server a"]);
  });

  it("is not there for a server that is off or that the program gave", async () => {
    const off = await load({ "config.yaml": "mcpServers: {a: {command: x, enabled: false}}" });
    const given = await load({}, { config: { mcpServers: { a: { command: "x" } } } });
    expect([off.trust.requested, given.trust.requested]).toEqual([[], []]);
  });

  it("names variables and no values", async () => {
    const server =
      "{url: 'https://u:p@x.example/mcp?k=v', headers: {Authorization: 'Bearer ${HOME_SECRET}', K: abc}}";
    const { trust } = await load(
      { "config.yaml": `mcpServers: {a: ${server}}` },
      { env: await homeEnv({ HOME_SECRET: "s3cret" }) },
    );
    const [item] = trust.held;
    expect(item?.text).toBe("https://x.example/mcp  with HOME_SECRET, Authorization, K");
    expect(JSON.stringify(trust)).not.toMatch(/s3cret|abc|u:p|k=v/u);
  });

  it("includes mounts and paths that lead out of the folder, also by a link", async () => {
    const outside = await folderWith({});
    const cwd = await folderWith({
      "config.yaml": [
        "execution:",
        "  mount_directories: ['/etc:/workspace/etc', './inside', './way:/workspace/way:rw']",
        "  skills_dir: ../",
        "logging: {file: ~/.bashrc}",
      ].join("\n"),
      ".env": `STATE_FILE=x.json\nWORKSPACE_DIR=${outside}`,
    });
    await symlink(outside, path.join(cwd, "way"));
    const { config, trust } = await loadConfig({ cwd, env: await homeEnv() });
    expect(trust.held.map(({ name }) => name)).toEqual([
      "/workspace/etc",
      "/workspace/way",
      "execution.workspace_dir",
      "execution.skills_dir",
      "logging.file",
    ]);
    const { execution, logging } = config;
    expect(execution.mountDirectories.map(({ guest }) => guest)).toEqual(["/workspace/mounts/inside"]);
    expect([execution.workspaceDir, execution.skillsDir, execution.state.workspaceDir, logging.file]).toEqual(
      [path.join(cwd, "workspace"), path.join(cwd, "skills"), path.join(cwd, "workspace"), undefined],
    );
  });

  it("includes places where code could change what git runs, which no clone has brought", async () => {
    const cwd = await folderWith({
      "config.yaml":
        "execution: {workspace_dir: ., mount_directories: ['.git/hooks:/h:rw', '.:/all:rw', '.:/seen']}\nlogging: {file: .git/config}",
    });
    await mkdir(path.join(cwd, ".git/hooks"), { recursive: true });
    const { config, trust } = await loadConfig({ cwd, env: await homeEnv() });
    expect(trust.held.map(({ name }) => name)).toEqual([
      "/h",
      "/all",
      "execution.workspace_dir",
      "logging.file",
    ]);
    expect(config.execution.workspaceDir).toBe(path.join(cwd, "workspace"));
    expect([config.logging.file, config.execution.mountDirectories.map(({ guest }) => guest)]).toEqual([
      undefined,
      ["/seen"],
    ]);
  });

  it("includes a value in .env for a server or a plugin of the user", async () => {
    const server = { a: { url: "https://${CRM_HOST:-crm.example}/mcp" } };
    const cwd = await folderWith({
      ".env": "CRM_HOST=stranger.example\nCRM_PORT=1\n",
      "mine.yaml": "plugins: [./p.ts]",
    });
    const given = await loadConfig({ cwd, env: await homeEnv(), config: { mcpServers: server } });
    expect(given.trust.held).toMatchObject([{ kind: "server", name: "a" }]);
    const own = await homeEnv({ CRM_HOST: "mine.example", CEM_CONFIG: path.join(cwd, "mine.yaml") });
    const withPlugin = await loadConfig({ cwd, env: own, config: { mcpServers: server } });
    expect(withPlugin.trust.held).toMatchObject([
      { kind: "plugin", name: ".env", text: "gives CRM_PORT to plugins" },
    ]);
  });

  it("stops everything where the workspace itself is a link out of the folder", async () => {
    const cwd = await folderWith({ "config.yaml": "" });
    await symlink(await folderWith({}), path.join(cwd, "workspace"));
    const env = await homeEnv();
    expect((await loadConfig({ cwd, env })).trust.obstacle).toMatchObject({ code: "FOLDER_UNTRUSTED" });
    expect((await loadConfig({ cwd, env, trustFolder: true })).trust.held).toEqual([]);
    expect((await loadConfig({ cwd, env, configFile: "config.yaml" })).trust.held).toEqual([]);
  });

  it("is not what was trusted in another folder, whose configuration .env names", async () => {
    const env = await homeEnv();
    const trusted = await folderWith({ "config.yaml": NODE });
    await trustAll(trusted, env);
    const cwd = await folderWith({ ".env": `CEM_CONFIG=${path.join(trusted, "config.yaml")}` });
    const asked = await held(cwd, env);
    expect(asked).toContain("server files");
    // Its workspace and tools would be those of the other folder.
    expect(asked).toContain("path execution.workspace_dir");
    const { config } = await loadConfig({ cwd, env });
    expect(config.execution.workspaceDir).toBe(path.join(cwd, "workspace"));
  });

  it("is asked for again where the folder is moved, and by another at its place", async () => {
    const env = await homeEnv();
    const cwd = await folderWith({ "config.yaml": NODE, "server.js": "" });
    await trustAll(cwd, env);
    await rename(cwd, `${cwd}-moved`);
    expect(await held(`${cwd}-moved`, env)).toEqual(["server files"]);
    await mkdir(cwd);
    await writeFile(path.join(cwd, "config.yaml"), NODE.replace("node", "sh"));
    expect(await held(cwd, env)).toEqual(["server files"]);
    await symlink(`${cwd}-moved`, `${cwd}-link`);
    await trustAll(`${cwd}-moved`, env);
    expect(await held(`${cwd}-link`, env)).toEqual([]);
  });
});

describe("an optional package that is installed for the folder", () => {
  const MODULE = "node_modules/@of/thing/dist/index.js";
  const manifest = (version: string): string =>
    JSON.stringify({ name: "@of/thing", version, exports: "./dist/index.js" });

  it("is held back until it is trusted, and again when it is updated", async () => {
    const files = {
      [MODULE]: "export default 1;",
      "node_modules/@of/thing/dist/package.json": '{"type":"module"}',
      "node_modules/@of/thing/dist/inner": "export default 2;",
      "node_modules/@of/thing/node_modules/in.js": "",
      "node_modules/@of/thing/package.json": manifest("1.0.0"),
    };
    const [cwd, env] = [await folderWith(files), await homeEnv()];
    const find = async (trustFolder?: boolean) =>
      (await loadConfig({ cwd, env, trustFolder })).trust.package("@of/thing");
    const found = await find();
    expect(found).toMatchObject({
      item: { kind: "package", name: "@of/thing", text: `loads ${path.normalize(MODULE)} into this process` },
      held: { before: undefined },
    });
    expect(found?.file.endsWith(path.normalize(MODULE))).toBe(true);
    expect(found?.item.files).toContain(path.normalize("node_modules/@of/thing/package.json"));
    expect(await find(true)).toMatchObject({ held: undefined });
    await addTrust(trustFile(env), (await loadConfig({ cwd, env })).trust.folder, found ? [found.item] : []);
    expect(await find()).toMatchObject({ held: undefined });
    await writeFile(path.join(cwd, "node_modules/@of/thing/README.md"), "");
    await writeFile(path.join(cwd, "node_modules/@of/thing/node_modules/other.js"), "");
    expect(await find()).toMatchObject({ held: undefined });
    await writeFile(path.join(cwd, "node_modules/@of/thing/dist/inner"), "export default 3;");
    expect(await find()).toMatchObject({ held: { name: "@of/thing" } });
    await writeFile(path.join(cwd, "node_modules/@of/thing/dist/inner"), "export default 2;");
    await writeFile(path.join(cwd, "node_modules/@of/thing/package.json"), manifest("1.0.1"));
    expect(await find()).toMatchObject({ held: { name: "@of/thing" } });
  });

  it("is looked for in the folders above too, and may be missing", async () => {
    const cwd = await folderWith({
      [MODULE]: "",
      "node_modules/@of/thing/package.json": manifest("1.0.0"),
      "in/x": "",
    });
    const { trust } = await loadConfig({ cwd: path.join(cwd, "in"), env: await homeEnv() });
    expect(await trust.package("@of/thing")).toMatchObject({ held: { name: "@of/thing" } });
    expect(await trust.package("@of/other")).toBeUndefined();
    expect(await trust.package("../in/x")).toBeUndefined();
  });
});

describe("the record of what is trusted", () => {
  it("counts only where nobody else can write it", async () => {
    const env = await homeEnv();
    const cwd = await folderWith({ "config.yaml": NODE });
    await trustAll(cwd, env);
    expect(Object.keys((await readTrust(trustFile(env))).folders)).toEqual([cwd]);
    await chmod(trustFile(env), 0o620);
    expect(await held(cwd, env)).toEqual(["server files"]);
    await chmod(trustFile(env), 0o600);
    await rename(trustFile(env), `${trustFile(env)}.real`);
    await symlink(`${trustFile(env)}.real`, trustFile(env));
    expect(await held(cwd, env)).toEqual(["server files"]);
    expect(
      await held(cwd, { ...env, XDG_CONFIG_HOME: path.relative(".", env["XDG_CONFIG_HOME"] ?? "") }),
    ).toEqual(["server files"]);
  });

  it.each(["", '{"version": 1, "fold', "[]"])("is said to be damaged: %j", async (content) => {
    const env = await homeEnv();
    const cwd = await folderWith({ "config.yaml": NODE });
    await trustAll(cwd, env);
    expect((await loadConfig({ cwd, env, trustFolder: false })).warnings).toEqual([]);
    await writeFile(trustFile(env), content);
    const { warnings, trust } = await loadConfig({ cwd, env, trustFolder: false });
    expect(warnings).toEqual([expect.stringContaining(`${trustFile(env)} is damaged or can't be read`)]);
    expect(trust.held).toHaveLength(1);
  });

  it("forgets a folder", async () => {
    const env = await homeEnv();
    const cwd = await folderWith({ "config.yaml": NODE });
    await trustAll(cwd, env);
    expect([await removeTrust(trustFile(env), cwd), await removeTrust(trustFile(env), cwd)]).toEqual([
      true,
      false,
    ]);
    expect(await held(cwd, env)).toEqual(["server files"]);
  });
});

describe("a queue that the folder names", () => {
  it.each(["redis://u:secret@stranger.example:6380/0", "redis://127.0.0.1:6379"])(
    "gets no runs and gives none without a yes: %s",
    async (url) => {
      for (const files of [{ "config.yaml": `queue: {url: '${url}'}` }, { ".env": `CEM_QUEUE_URL=${url}` }]) {
        const { config, trust } = await load(files);
        expect(config.queue.url).toBeUndefined();
        expect(trust.held).toMatchObject([{ kind: "setting", name: "queue.url" }]);
        expect(JSON.stringify(trust.held)).not.toContain("u:secret");
      }
    },
  );

  it("is used once it was trusted, until its URL or prefix is another", async () => {
    const env = await homeEnv();
    const cwd = await folderWith({ "config.yaml": "queue: {url: 'redis://one.example'}" });
    await trustAll(cwd, env);
    expect((await loadConfig({ cwd, env, trustFolder: false })).config.queue.url).toBe("redis://one.example");
    for (const queue of ["{url: 'redis://two.example'}", "{url: 'redis://one.example', prefix: other}"]) {
      await writeFile(path.join(cwd, "config.yaml"), `queue: ${queue}`);
      expect(await held(cwd, env)).toContain("setting queue.url");
    }
  });

  it("needs no yes where the user names it", async () => {
    const { config, trust } = await load({}, { env: { CEM_QUEUE_URL: "redis://mine.example" } });
    expect([config.queue.url, trust.held]).toEqual(["redis://mine.example", []]);
  });
});

describe("a store that the folder names", () => {
  it.each(["redis://u:secret@stranger.example:6380/0", "postgres://u:secret@127.0.0.1/db", "./inside"])(
    "is not used without a yes, inside of the folder too: %s",
    async (url) => {
      for (const files of [{ "config.yaml": `store: {url: '${url}'}` }, { ".env": `CEM_STORE_URL=${url}` }]) {
        const { config, trust } = await load(files);
        expect(config.store.url).toBeUndefined();
        expect(trust.held).toMatchObject([{ kind: "setting", name: "store.url" }]);
        expect(JSON.stringify(trust.held)).not.toContain("u:secret");
      }
    },
  );

  it("needs no yes where the user names it", async () => {
    const { config, trust } = await load({}, { env: { CEM_STORE_URL: "/srv/shared" } });
    expect([config.store.url, trust.held]).toEqual(["/srv/shared", []]);
  });
});

describe("addTrust", () => {
  it("keeps what others add at the same time", async () => {
    const file = trustFile(await homeEnv());
    const folders = Array.from({ length: 8 }, (_, at) => `/folder/${at}`);
    await Promise.all(folders.map((folder) => addTrust(file, folder, [])));
    expect(Object.keys((await readTrust(file)).folders).toSorted()).toEqual(folders);
    expect(await Promise.all(folders.map((folder) => removeTrust(file, folder)))).not.toContain(false);
    expect((await readTrust(file)).folders).toEqual({});
  });
});
