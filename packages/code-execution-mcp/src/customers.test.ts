import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Agent, SkillDraft } from "@cem/core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createAgent, createServer } from "./index.ts";

const sample = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
const SKILL: SkillDraft = {
  name: "secret-sum",
  description: "Sum with a secret.",
  code: "export const secret_sum = (x: number): number => x + 7;",
  test: 'import { secret_sum } from "./skills/secret-sum/index.ts";\nreturn secret_sum(1) === 8;',
};
const USE = 'import { secret_sum } from "./skills/secret-sum/index.ts";\nreturn secret_sum(1);';

let folder: string;
let agents: Record<"ada" | "bob", Agent>;
const optionsOf = (customer: string) => ({
  customer,
  configFile: false as const,
  config: {
    customers: { dir: path.join(folder, "workspaces") },
    execution: {
      workspaceDir: path.join(folder, "workspace"),
      serversDir: sample("servers"),
      skillsDir: path.join(folder, "skills"),
    },
    optimizations: { toolCache: false, sandboxPooling: false },
  },
});

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "cem-customers-"));
  await mkdir(path.join(folder, "skills/shared"), { recursive: true });
  await writeFile(
    path.join(folder, "skills/shared/index.ts"),
    "/** Doubles. */\nexport const shared = (x: number): number => 2 * x;\n",
  );
  agents = { ada: createAgent(optionsOf("ada")), bob: createAgent(optionsOf("bob")) };
});
afterAll(async () => {
  await Promise.all(Object.values(agents).map((agent) => agent.dispose()));
  await rm(folder, { recursive: true, force: true });
});

describe("createAgent with a customer", () => {
  it("keeps files, state and what is in them apart", async () => {
    const write =
      'await Deno.writeTextFile("/workspace/canary.txt", "of ada"); return (await Array.fromAsync(Deno.readDir("/workspace"), (entry) => entry.name)).sort();';
    expect(await agents.ada.executeCode(write)).toMatchObject({
      error: null,
      value: expect.arrayContaining(["canary.txt"]),
    });
    const look = 'return (await Array.fromAsync(Deno.readDir("/workspace"), (entry) => entry.name)).sort();';
    const { value } = await agents.bob.executeCode(look);
    expect(value).not.toContain("canary.txt");
    const home = path.join(folder, "workspaces/ada");
    expect(await readFile(path.join(home, "workspace/canary.txt"), "utf8")).toBe("of ada");
    expect((await stat(home)).mode & 0o777).toBe(0o700);
  });

  it.each([
    "/workspace/../../ada/workspace/canary.txt",
    "../../ada/workspace/canary.txt",
    "HOME/workspaces/ada/workspace/canary.txt",
    "/workspace/../skills/x",
    "/proc/self/cwd/../../ada/workspace/canary.txt",
  ])("lets code of one not read %j of another", async (file) => {
    const code = `return await Deno.readTextFile(${JSON.stringify(file.replace("HOME", folder))});`;
    const result = await agents.bob.executeCode(code);
    expect(result.status).not.toBe("success");
    expect(JSON.stringify(result)).not.toContain("of ada");
  });

  it("lets code of one find nothing of another: state, sessions, results and links to them", async () => {
    const secret = "canary-of-ada-7f3b";
    const plant = `await Deno.writeTextFile("/workspace/state.json", JSON.stringify({ secret: "${secret}" })); console.log("${secret}"); return "${secret}".repeat(20_000);`;
    await agents.ada.executeCode(plant, { session: "of-ada" });
    await agents.ada.executeTask(`Say ${secret}`, { session: "of-ada" });
    const home = path.join(folder, "workspaces");
    const look = `const found = []; const visit = (at, depth) => { try { for (const one of Deno.readDirSync(at)) { const path = at + "/" + one.name; if (one.isDirectory && depth < 5) visit(path, depth + 1); else try { found.push(Deno.readTextFileSync(path)); } catch {} } } catch {} };
for (const at of ["/workspace", "..", "../..", ${JSON.stringify(home)}, ${JSON.stringify(path.join(home, "ada"))}, "/tmp"]) visit(at, 0);
for (const to of [${JSON.stringify(home)} + "/ada/workspace", "../../ada/workspace", "/proc/self/cwd/../../ada/workspace"]) { try { Deno.symlinkSync(to, "/workspace/away"); visit("/workspace/away", 0); } catch {} try { Deno.linkSync(to + "/state.json", "/workspace/hard"); found.push(Deno.readTextFileSync("/workspace/hard")); } catch {} }
return found.join("\n").slice(0, 200_000);`;
    for (const session of ["of-ada", "of-bob"]) {
      const result = await agents.bob.executeCode(look, { session });
      expect(JSON.stringify({ ...result, code: "" })).not.toContain(secret);
    }
  });

  it("gives each the shared skills and their own", async () => {
    const use = 'import { shared } from "./skills/shared/index.ts";\nreturn shared(4);';
    for (const agent of Object.values(agents))
      expect(await agent.executeCode(use)).toMatchObject({ value: 8 });
    await agents.ada.saveSkill(SKILL);
    expect(await agents.ada.executeCode(USE)).toMatchObject({ error: null, value: 8 });
    expect(await agents.bob.executeCode(USE)).toMatchObject({ status: "refused" });
    expect((await agents.bob.searchTools("secret sum")).map(({ tool }) => tool.name)).not.toContain(
      "secret_sum",
    );
    expect(await readdir(path.join(folder, "skills"))).toEqual(["shared"]);
  });

  it("takes no list of tools over for all that a server has given to one of them", async () => {
    const { config, ...options } = optionsOf("ada");
    const serversDir = path.join(folder, "servers");
    const file = sample("packages/mcp-client/fixtures/odd-server.ts");
    const command = {
      command: process.execPath,
      args: ["--conditions=@cem/source", file, "plain", "For ada only."],
    };
    const withServer = {
      ...options,
      config: {
        ...config,
        execution: { ...config.execution, serversDir },
        mcpServers: [{ name: "odd", connectionType: "stdio" as const, ...command }],
      },
    };
    const ada = createAgent(withServer);
    const all = createAgent({ ...withServer, customer: undefined });
    onTestFinished(() => ada.dispose());
    onTestFinished(() => all.dispose());
    const namesOf = async (agent: Agent) =>
      (await agent.discoverTools()).servers.filter(({ kind }) => kind === "host").map(({ name }) => name);
    expect(await namesOf(ada)).toEqual([]);
    const message = expect.stringContaining("cem generate odd");
    expect((await ada.discoverTools()).problems).toMatchObject([{ server: "odd", message }]);
    expect(await namesOf(all)).toEqual(["odd"]);
    expect(await namesOf(ada)).toEqual(["odd"]);
  });

  it("lets code change neither skills nor tools", async () => {
    for (const file of [
      "/workspace/skills/shared/index.ts",
      "/workspace/skills/secret-sum/index.ts",
      "/workspace/skills/new.ts",
      "/workspace/servers/calculator/index.ts",
    ]) {
      const code = `await Deno.writeTextFile(${JSON.stringify(file)}, "export const x = 1;"); return 1;`;
      expect((await agents.ada.executeCode(code)).status).toBe("error");
    }
    expect(await readFile(path.join(folder, "skills/shared/index.ts"), "utf8")).toContain("2 * x");
  });

  it.each(["../ada", "", "ada/../bob"])("refuses %j as a customer's id", async (customer) => {
    const agent = createAgent(optionsOf(customer));
    await expect(agent.executeCode("return 1;")).rejects.toMatchObject({ code: "CUSTOMER_INVALID" });
    await agent.dispose();
  });
});

describe("a server's clients of one customer", () => {
  it("see the same runs, which those of another do not", async () => {
    const { config } = optionsOf("");
    const customers = { ...config.customers, header: "x-customer" };
    const server = await createServer({ configFile: false, config: { ...config, customers } });
    const audienceOf = async (clientId: string, customer: string) =>
      (await server.openClient({ token: "", clientId, scopes: [], extra: { customer } })).audience;
    const [desk, phone, other] = [
      await audienceOf("desk", "ada"),
      await audienceOf("phone", "ada"),
      await audienceOf("desk", "bob"),
    ];
    await server.close();
    expect(phone).toBe(desk);
    expect(other).not.toBe(desk);
  });
});
