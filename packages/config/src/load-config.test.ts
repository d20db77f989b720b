import { mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { DEFAULT_RUN_LIMITS } from "@cem/core";
import { describe, expect, it } from "vitest";
import { failure, folderWith, load } from "../test/config-folder.ts";
import { loadConfig, SETTINGS, VARIABLES } from "./index.ts";

const NOTHING = { env: {} };

describe("loadConfig", () => {
  it("gives the defaults where nothing is set", async () => {
    const cwd = await folderWith({});
    const { config, origins, file, warnings } = await loadConfig({ cwd, ...NOTHING });
    expect(file).toBeUndefined();
    expect(warnings).toEqual([]);
    expect(Object.values(origins).every(({ label }) => label === "default")).toBe(true);
    expect(config.execution).toEqual({
      workspaceDir: join(cwd, "workspace"),
      serversDir: join(cwd, "servers"),
      skillsDir: join(cwd, "skills"),
      workflowRunsDir: join(cwd, ".cem/workflows"),
      sandboxType: "auto",
      sandboxImage: "auto",
      minIsolation: "permissions",
      typeCheck: "before",
      allowNetworkAccess: false,
      mountDirectories: [],
      kubernetes: {
        template: "cem-guest",
        namespace: undefined,
        volumeClaim: undefined,
        volumeRoot: "/files",
        startTimeout: 120,
      },
      state: {
        enabled: true,
        workspaceDir: join(cwd, "workspace"),
        stateFile: "state.json",
        autoSave: true,
        stateFormat: "json",
      },
      limits: {
        maxOutputKb: 256,
        maxToolCalls: 1000,
        maxPayloadMb: 8,
        maxWriteMb: 1024,
        maxWorkspaceMb: 10240,
        maxWorkspaceEntries: 250000,
      },
    });
    expect(config.guardrails.maxExecutionTime * 1000).toBe(DEFAULT_RUN_LIMITS.timeoutMs);
    expect(config.guardrails.maxMemoryMb).toBe(DEFAULT_RUN_LIMITS.memoryMb);
    expect(config.optimizations).toMatchObject({ sandboxPooling: true, sandboxPoolSize: 2 });
    expect(config.llm.enabled).toBe(false);
  });

  it("puts file, .env, environment and arguments on each other and says where each value came from", async () => {
    const cwd = await folderWith({
      "config.yaml": "llm:\n  model: file\n  temperature: 0.1\n  max_tokens: 1\nlogging:\n  level: warning\n",
      ".env": "LLM_MODEL=dotenv\nLLM_TEMPERATURE=0.2\nLLM_MAX_TOKENS=2\n",
    });
    const { config, origins } = await loadConfig({
      cwd,
      env: { LLM_MODEL: "environment", LLM_TEMPERATURE: "0.3" },
      config: { llm: { model: "argument" } },
    });
    expect(config.llm).toMatchObject({ model: "argument", temperature: 0.3, maxTokens: 2 });
    expect(config.logging.level).toBe("WARNING");
    expect(origins["llm.model"]?.label).toBe("argument");
    expect(origins["llm.temperature"]?.label).toBe("environment LLM_TEMPERATURE");
    expect(origins["llm.max_tokens"]?.label).toBe(".env LLM_MAX_TOKENS");
    expect(origins["logging.level"]).toEqual({
      from: "file",
      label: "config.yaml:6",
      file: join(cwd, "config.yaml"),
      line: 6,
      ofFolder: true,
    });
    expect(Object.keys(origins)).toEqual(SETTINGS.map(({ path }) => path));
  });

  it("does not change its process's environment", async () => {
    const cwd = await folderWith({ ".env": "CEM_CONFIG_TEST_ONLY=1" });
    await loadConfig({ cwd });
    expect(process.env["CEM_CONFIG_TEST_ONLY"]).toBeUndefined();
  });

  it("gives the same when a loaded configuration is given back to it", async () => {
    const first = await load(
      "llm: {api_key: k}\nmcp_servers: {a: {command: x, env: {A: 1}}, b: {url: http://x}}\nexecution: {mount_directories: [data]}\nworkflows: [{name: w, steps: [{name: s, type: loop, config: {a: 1}, guardrails: {strict_mode: true}}]}]",
    );
    const second = await loadConfig({ env: {}, configFile: false, envFile: false, config: first.config });
    expect(second.config).toEqual(first.config);
    expect(second.config.llm.apiKey?.reveal()).toBe("k");
  });

  it("stops when its signal does", async () => {
    await expect(load("a: 1", { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });
  });

  describe("the file", () => {
    it("may be called config.yml; config.yaml wins with a warning", async () => {
      const cwd = await folderWith({ "config.yml": "logging: {level: ERROR}" });
      expect((await loadConfig({ cwd, ...NOTHING })).file).toBe(join(cwd, "config.yml"));
      await writeFile(join(cwd, "config.yaml"), "logging: {level: WARNING}");
      const both = await loadConfig({ cwd, ...NOTHING });
      expect(both.config.logging.level).toBe("WARNING");
      expect(both.warnings).toEqual(["config.yml  is not read: config.yaml is there too and wins."]);
    });

    it("is named by the caller, else by CEM_CONFIG, from the process or .env", async () => {
      const cwd = await folderWith({
        "config.yaml": "",
        ".env": "CEM_CONFIG=b.yaml",
        "a.yaml": "",
        "b.yaml": "",
        "c.yaml": "",
      });
      const named = async (configFile?: string, env = {}) =>
        (await loadConfig({ cwd, env, configFile })).file;
      expect(await named()).toBe(join(cwd, "b.yaml"));
      expect(await named(undefined, { CEM_CONFIG: "c.yaml" })).toBe(join(cwd, "c.yaml"));
      expect(await named("a.yaml", { CEM_CONFIG: "c.yaml" })).toBe(join(cwd, "a.yaml"));
      expect(
        (await loadConfig({ cwd, env: { CEM_CONFIG: "c.yaml" }, configFile: false })).file,
      ).toBeUndefined();
    });

    it("is not a folder, as Docker makes one of a file that is missing", async () => {
      const cwd = await folderWith({});
      await mkdir(join(cwd, "config.yaml"));
      const error = await failure(loadConfig({ cwd, ...NOTHING }));
      expect(error).toMatchObject({
        code: "CONFIG_INVALID",
        message: expect.stringContaining("is not a configuration"),
      });
    });

    it("has to exist when it is named", async () => {
      const cwd = await folderWith({});
      expect(await failure(loadConfig({ cwd, ...NOTHING, configFile: "no.yaml" }))).toMatchObject({
        code: "CONFIG_NOT_FOUND",
        details: { file: join(cwd, "no.yaml") },
      });
      const error = await failure(loadConfig({ cwd, env: { CEM_CONFIG: "no.yaml" } }));
      expect(error.message).toContain("named by environment CEM_CONFIG");
    });

    it("may be empty, and so may its sections and settings", async () => {
      for (const text of [
        "",
        "\n# nothing\n",
        "---\n",
        "null",
        "llm:\nexecution:\n  state:\n  workspace_dir:\n",
      ]) {
        const { origins } = await load(text);
        expect(Object.values(origins).every(({ from }) => from === "default")).toBe(true);
      }
    });
  });

  describe("paths", () => {
    it("start at the file's folder from wherever they come but the caller, and at home with ~", async () => {
      const cwd = await folderWith({ ".env": "LOG_FILE=not-read.log" });
      const etc = join(cwd, "etc");
      await mkdir(etc);
      await writeFile(join(etc, ".env"), "WORKSPACE_DIR=room");
      await writeFile(
        join(etc, "my.yaml"),
        "execution: {workspace_dir: ./ws, skills_dir: ~/skills, mount_directories: [../data]}\nmcpServers: {a: {command: x, cwd: here}}\nplugins: [./p.ts, p]",
      );
      const { config, folder } = await loadConfig({
        cwd,
        configFile: "etc/my.yaml",
        env: { SERVERS_DIR: "tools" },
        config: { logging: { auditFile: "audit.log" } },
      });
      expect(folder).toBe(etc);
      expect(config.execution).toMatchObject({
        workspaceDir: join(etc, "room"),
        serversDir: join(etc, "tools"),
        skillsDir: join(homedir(), "skills"),
        workflowRunsDir: join(etc, ".cem/workflows"),
        mountDirectories: [{ host: join(cwd, "data"), guest: "/workspace/mounts/data", mode: "ro" }],
      });
      expect(config.mcpServers).toMatchObject([{ cwd: join(etc, "here") }]);
      expect(config.plugins.map(({ plugin }) => plugin)).toEqual([join(etc, "p.ts"), "p"]);
      expect(config.logging.file).toBeUndefined();
      expect(config.logging.auditFile).toBe(join(cwd, "audit.log"));
    });

    it("start at the folder of the file that CEM_CONFIG names, in the environment or in .env", async () => {
      const cwd = await folderWith({ ".env": "CEM_CONFIG=etc/my.yaml\nLOG_FILE=x.log" });
      const etc = join(cwd, "etc");
      await mkdir(etc);
      await writeFile(join(etc, "my.yaml"), "");
      const placesOf = async (env: Record<string, string>): Promise<unknown[]> => {
        const { config, trust } = await loadConfig({ cwd, env });
        return [config.runs.dir, config.logging.file, trust.folder];
      };
      expect(await placesOf({})).toEqual([join(etc, ".cem/runs"), join(etc, "x.log"), cwd]);
      const env = { CEM_CONFIG: join(etc, "my.yaml") };
      expect(await placesOf(env)).toEqual([join(etc, ".cem/runs"), undefined, etc]);
    });

    it("are absolute once loaded, every one that the schema has", async () => {
      const relative = /^(?:\.cem|\.tool_cache|here|workspace|servers|skills)/u;
      const { config } = await load(
        "execution: {mount_directories: [here, {host: here, guest: /b}], sandbox_image: ./image.tar}\nstore: {url: here}",
      );
      expect(config.execution.sandboxImage).toMatch(/^\/.*\/image\.tar$/u);
      const texts: string[] = [];
      JSON.stringify(config, (_key, value: unknown) => {
        if (typeof value === "string" && relative.test(value)) texts.push(value);
        return value;
      });
      expect(texts).toEqual([]);
    });

    it("stay as they are in a server's cwd that begins with a variable", async () => {
      const { config } = await load("mcpServers: {a: {command: x, cwd: '${HERE}/tools'}, b: {command: x}}");
      expect(config.mcpServers).toMatchObject([{ cwd: "${HERE}/tools" }, { name: "b", cwd: undefined }]);
    });

    it("leave the URL of a store as it is, and make its folder absolute", async () => {
      for (const [url, loaded] of [
        ["rediss://u:p@h.example:6380/2", "rediss://u:p@h.example:6380/2"],
        ["postgresql://h.example/db?sslmode=verify-full", "postgresql://h.example/db?sslmode=verify-full"],
        ["/srv/shared", "/srv/shared"],
        ["~/shared", join(homedir(), "shared")],
      ]) {
        expect((await load(`store: {url: '${url}'}`)).config.store.url).toBe(loaded);
      }
      for (const url of ["mysql://u:hidden@h.example", "redis://", "redis:///0", "postgres://h:port/db"]) {
        const error = await failure(load(`store: {url: '${url}'}`));
        expect(error.message).toContain("or the path of a folder");
        expect(error.message).not.toContain("hidden");
      }
    });

    it("keep the state with the workspace unless told otherwise", async () => {
      const { config } = await load("execution: {workspace_dir: /ws}");
      expect(config.execution.state.workspaceDir).toBe("/ws");
      const other = await load("execution: {workspace_dir: /ws, state: {workspace_dir: /st}}");
      expect(other.config.execution.state.workspaceDir).toBe("/st");
    });
  });

  describe("variables", () => {
    const SAMPLES: Record<string, [text: string, value: unknown]> = {
      "llm.provider": ["OpenAI", "openai"],
      "execution.sandbox_type": ["Deno", "deno"],
      "execution.state.state_format": ["YAML", "yaml"],
      "logging.level": ["warning", "WARNING"],
      "queue.url": ["redis://127.0.0.1:6379/1", "redis://127.0.0.1:6379/1"],
      "queue.worker_port": ["8081", 8081],
      "store.files": [
        "s3://cem-files/prod?endpoint=http://127.0.0.1:9000",
        "s3://cem-files/prod?endpoint=http://127.0.0.1:9000",
      ],
      "store.url": ["postgresql://cem@127.0.0.1/cem", "postgresql://cem@127.0.0.1/cem"],
    };

    it.each(VARIABLES)("reads $name", async ({ name, path, provider = "openai" }) => {
      const setting = SETTINGS.find((candidate) => candidate.path === path);
      const standard = setting?.default;
      const [text, value] =
        SAMPLES[path] ??
        (typeof standard === "boolean"
          ? [standard ? "no" : "1", !standard]
          : typeof standard === "number"
            ? ["1.0", 1]
            : ["/some/text", "/some/text"]);
      const env = { [name]: path === "guardrails.max_memory_mb" ? "100" : text };
      const { config, origins } = await loadConfig({
        cwd: await folderWith({}),
        env,
        config: path === "llm.provider" ? {} : { llm: { provider } },
      });
      let found: unknown = config;
      for (const key of setting?.keys ?? []) found = (found as Record<string, unknown>)[key];
      if (setting?.secret === true) found = (found as { reveal(): string }).reveal();
      expect(found).toBe(path === "guardrails.max_memory_mb" ? 100 : value);
      expect(origins[path]?.label).toBe(`environment ${name}`);
    });

    it("let the more specific win and warn of the other", async () => {
      const env = { WORKSPACE_DIR: "/a", EXECUTION_WORKSPACE_DIR: "/b" };
      const { config, warnings } = await load("", { env });
      expect(config.execution.workspaceDir).toBe("/b");
      expect(warnings).toEqual([
        "environment WORKSPACE_DIR  is not used: EXECUTION_WORKSPACE_DIR is set too and wins.",
      ]);
    });

    it("let the process win over .env, whatever the name", async () => {
      const cwd = await folderWith({ ".env": "EXECUTION_WORKSPACE_DIR=/dotenv" });
      const { config } = await loadConfig({ cwd, env: { WORKSPACE_DIR: "/process" } });
      expect(config.execution.workspaceDir).toBe("/process");
    });

    it("count as unset when empty", async () => {
      const { config } = await load("llm: {model: file}", { env: { LLM_MODEL: " ", MAX_MEMORY_MB: "" } });
      expect(config.llm.model).toBe("file");
    });

    it("give each provider its own key only", async () => {
      const env = { OPENAI_API_KEY: "open", AZURE_OPENAI_API_KEY: "azure" };
      const key = async (yaml: string, more = {}) =>
        (await load(yaml, { env: { ...env, ...more } })).config.llm.apiKey?.reveal();
      expect(await key("")).toBe("open");
      expect(await key("llm: {provider: azure_openai}")).toBe("azure");
      expect(await key("llm: {provider: anthropic}")).toBeUndefined();
      expect(await key("", { AZURE_OPENAI_ENDPOINT: "https://x" })).toBe("azure");
      expect(await key("llm: {provider: openai}", { AZURE_OPENAI_ENDPOINT: "https://x" })).toBe("open");
    });

    it("are not read from a .env that is too large or not text, with a warning", async () => {
      const large = await folderWith({ ".env": `LLM_MODEL=x\n#${" ".repeat(1024 * 1024)}` });
      const { config, warnings } = await loadConfig({ cwd: large, ...NOTHING });
      expect(warnings).toEqual([".env  is larger than 1024 KiB and is not read."]);
      expect(config.llm.model).toBe("gpt-4o-mini");
      const binary = await folderWith({ ".env": new Uint8Array([0xff, 0xfe]) });
      expect((await loadConfig({ cwd: binary, ...NOTHING })).warnings).toEqual([
        ".env  can't be read (ERR_ENCODING_INVALID_ENCODED_DATA) and sets nothing.",
      ]);
    });

    it("are not read from a .env that is a folder", async () => {
      const cwd = await folderWith({});
      await mkdir(join(cwd, ".env"));
      await expect(loadConfig({ cwd, ...NOTHING })).resolves.toMatchObject({ warnings: [] });
    });
  });
});
