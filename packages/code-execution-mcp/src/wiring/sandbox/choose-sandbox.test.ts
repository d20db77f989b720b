import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "@cem/config";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { chooseProvider, probeSandboxes } from "./choose-sandbox.ts";
import { createSandbox } from "./sandboxes.ts";

const KEY = "msb_a-key-that-is-secret";

describe("an older microsandbox server in the configuration", () => {
  let server: Server | undefined;
  const seen: (string | undefined)[] = [];
  afterEach(() => {
    server?.close();
    seen.length = 0;
  });

  /** Answers as a server that rejects the key. */
  const start = async () => {
    server = createServer((request, response) => {
      seen.push(request.headers.authorization);
      const isHealth = request.url === "/api/v1/health";
      response
        .writeHead(isHealth ? 200 : 401)
        .end(JSON.stringify(isHealth ? { message: "" } : { error: "Invalid credentials", code: 1001 }));
    });
    await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const load = async (sandboxType: "auto" | "deno" | "microsandbox") => {
    const env = { MSB_SERVER_URL: await start(), MSB_API_KEY: KEY };
    const overrides = { execution: { sandboxType } };
    return (await loadConfig({ configFile: false, env, config: overrides })).config;
  };

  it("is asked where microsandbox is asked for by name, and says what is wrong without the key", async () => {
    const config = await load("microsandbox");
    const probe = await (await chooseProvider(config, true)).probe();
    expect(probe).toMatchObject({
      available: false,
      reason: expect.stringContaining("rejected the API key"),
    });
    expect(JSON.stringify(probe)).not.toContain(KEY);
    expect(seen).toContain(`Bearer ${KEY}`);
    const [checked] = await probeSandboxes(config, {});
    expect(checked).toMatchObject({ name: "microsandbox", probe });
  });

  it.each(["auto", "deno"] as const)("is not asked with sandbox_type %s", async (sandboxType) => {
    const config = await load(sandboxType);
    await chooseProvider(config, true);
    expect(seen).toEqual([]);
  });
});

describe("createSandbox", () => {
  const workspaceDir = realpathSync(mkdtempSync(join(tmpdir(), "cem-choose-")));
  afterAll(() => rmSync(workspaceDir, { recursive: true, force: true }));

  const load = async (execution: object) => {
    const overrides = { execution: { sandboxType: "deno", ...execution } } as const;
    return (await loadConfig({ configFile: false, env: {}, config: overrides })).config;
  };

  it("mounts an empty folder where there are no tool files, and makes none", async () => {
    const [serversDir, skillsDir] = [join(workspaceDir, "servers"), join(tmpdir(), "cem-no-skills")];
    const sandbox = await createSandbox(await load({ workspaceDir, serversDir, skillsDir }), {
      oneRun: true,
    });
    try {
      const code = `const made = [];
for (const path of ["/workspace/servers/crm", "/workspace/skills/tidy", new URL("file:///workspace/%73ervers")])
  try { Deno.mkdirSync(path, { recursive: true }); made.push(String(path)); } catch {}
return [made, ["servers", "skills"].map((name) => [...Deno.readDirSync("/workspace/" + name)].length)];`;
      expect(await sandbox.run({ code })).toMatchObject({ status: "completed", value: [[], [0, 0]] });
      expect([serversDir, skillsDir].filter((folder) => existsSync(folder))).toEqual([]);
    } finally {
      await sandbox.dispose();
    }
  });

  it.each(["serversDir", "skillsDir"])(
    "refuses a %s that code finds in the workspace by another name",
    async (setting) => {
      const config = await load({ workspaceDir, [setting]: join(workspaceDir, "lib/tools") });
      await expect(createSandbox(config)).rejects.toMatchObject({
        code: "CONFIG_INVALID",
        message: expect.stringContaining(join(workspaceDir, setting.replace("Dir", ""))),
      });
    },
  );

  it.each([
    ["a mount that code writes in has", "."],
    ["has a mount in it that code writes in", "servers/crm"],
  ])("refuses a servers_dir that %s", async (_, host) => {
    const project = join(workspaceDir, "..", `cem-project-${process.pid}`);
    const serversDir = join(project, "servers");
    const mount = { host: join(project, host), guest: "/workspace/project", mode: "rw" };
    await expect(
      createSandbox(await load({ workspaceDir, serversDir, mountDirectories: [mount] })),
    ).rejects.toMatchObject({ code: "CONFIG_INVALID", details: { reached: mount.host } });
  });

  it("gives runs that name no session the agent's, and keeps the sandbox's stats", async () => {
    const overrides = {
      execution: { sandboxType: "deno", workspaceDir },
      optimizations: { sandboxPoolSize: 1 },
    } as const;
    const { config } = await loadConfig({ configFile: false, env: {}, config: overrides });
    const sandbox = await createSandbox(config);
    try {
      await sandbox.run({ code: "return 1;" });
      await expect.poll(() => sandbox.stats?.().kept).toBe(1);
      await sandbox.run({ code: "return 2;", session: "agent" });
      expect(sandbox.stats?.()).toMatchObject({ reused: 1, running: 0, waiting: 0 });
    } finally {
      await sandbox.dispose();
    }
  });
});
