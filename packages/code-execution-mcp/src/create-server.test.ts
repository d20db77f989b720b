import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { isObject } from "@cem/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { describeWith } from "../../../vitest.tools.ts";
import { startRedis } from "../../store/test/redis-server.ts";
import { measureTokenCost } from "./admin.ts";
import { createAgent, createServer, runServer } from "./index.ts";

const serversDir = fileURLToPath(new URL("../../../servers", import.meta.url));

function project(config = ""): string {
  const cwd = mkdtempSync(path.join(os.tmpdir(), "cem-create-server-"));
  writeFileSync(
    path.join(cwd, "config.yaml"),
    `execution: {servers_dir: ${JSON.stringify(serversDir)}}\n${config}`,
  );
  return cwd;
}

async function post(url: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }),
  });
}

const INITIALIZE = {
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};

describe("createServer", () => {
  it("takes profile and state from the configuration", async () => {
    const cwd = project("server: {profile: code}");
    const server = await createServer({ cwd });
    const { tools } = await measureTokenCost(server);
    expect(tools.map(({ name }) => name)).toEqual(["execute_code", "search_tools", "read_result"]);
    expect(existsSync(path.join(cwd, "workspace"))).toBe(true);
    await server.close();
    await expect(server.agent.executeCode("return 1")).rejects.toMatchObject({ code: "AGENT_DISPOSED" });
  });

  it.each(["full", "code", "original"] as const)(
    "gives every enum in the schemas of its tools a type, as Gemini requires: %s",
    async (profile) => {
      const running = await runServer({ cwd: project(), profile, transport: "http", port: 0 });
      const client = new Client({ name: "model", version: "1" });
      await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
      const { tools } = await client.listTools();
      await client.close();
      await running.close();
      const enums: object[] = [];
      JSON.stringify(tools, (_, value: unknown) => {
        if (isObject(value) && Array.isArray(value["enum"])) enums.push(value);
        return value;
      });
      expect(enums).not.toEqual([]);
      for (const schema of enums) expect(schema).toHaveProperty("type");
    },
  );

  it("tells clients what the configuration lets code reach", async () => {
    const cwd = project();
    writeFileSync(
      path.join(cwd, "config.yaml"),
      `execution: {servers_dir: ${JSON.stringify(serversDir)}, allow_network_access: true, mount_directories: [${JSON.stringify(`${cwd}:/data`)}]}
guardrails: {allowed_networks: [api.example.com]}
server: {yield_after: 20}\n`,
    );
    const running = await runServer({ cwd, trustFolder: true, transport: "http", port: 0 });
    const client = new Client({ name: "model", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
    const { tools } = await client.listTools();
    const told = tools.find(({ name }) => name === "execute_code")?.description;
    expect(told).toContain("fetch reaches only api.example.com. Files: only /workspace, /data (read-only);");
    expect(told).toContain("A run over 20 s");
    expect(client.getInstructions()).toContain("execute_code");
    await client.close();
    await running.close();
  });

  it("says at its start that it has another key for values of persons, and opens them with both", async () => {
    const cwd = project("privacy: { vault: disk }\nserver: { auth_token: a-token-of-sixteen-characters }");
    const said: string[] = [];
    const runWith = async (vaultKey: string, code: string): Promise<string> => {
      const log = (_: string, message: string) => void said.push(message);
      const config = { privacy: { vaultKey } };
      const running = await runServer({ cwd, config, trustFolder: true, transport: "http", port: 0, log });
      const client = new Client({ name: "model", version: "1" }, { versionNegotiation: { mode: "auto" } });
      const headers = { authorization: "Bearer a-token-of-sixteen-characters" };
      const url = new URL(running.url ?? "");
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
      const answer = await client.callTool({ name: "execute_code", arguments: { code } });
      await client.close();
      await running.close();
      return JSON.stringify(answer.content);
    };
    const [first, other] = ["a".repeat(64), "b".repeat(64)];
    const [token = ""] = /\[\[EMAIL:\w+\]\]/.exec(await runWith(first, `return "ada@example.com";`)) ?? [];
    expect(said.join("\n")).not.toContain("CEM_VAULT_KEY");
    const refused = await runWith(other, "return 1;");
    expect(refused).toContain("does not work now (VAULT_UNREADABLE)");
    expect(refused).not.toContain(cwd);
    expect(said.join("\n")).toMatch(/\.vault can't be read with this key\. Set CEM_VAULT_KEY to the key/);
    expect(await runWith(`${other},${first}`, `return ${JSON.stringify(token)}.length;`)).toContain("15");
  });

  it("says at its start that it has nothing to serve where it was started", async () => {
    const warningsIn = async (cwd: string): Promise<string[]> => {
      const said: string[] = [];
      const server = await createServer({ cwd, log: (_, message) => void said.push(message) });
      await server.close();
      return said.filter((message) => message.includes("no config.yaml"));
    };
    const elsewhere = mkdtempSync(path.join(os.tmpdir(), "cem-create-server-"));
    expect(await warningsIn(elsewhere)).toEqual([
      `There is no config.yaml in ${elsewhere}, so code finds no tools. Name your project's with --config or CEM_CONFIG.`,
    ]);
    expect(await warningsIn(project())).toEqual([]);
  });

  it("leaves an agent that it was given to its owner", async () => {
    const cwd = project();
    const agent = createAgent({ cwd });
    const server = await createServer({ cwd, agent });
    await server.close();
    expect(await agent.executeCode("return 1")).toMatchObject({ value: 1 });
    await agent.dispose();
  });

  it("says what is wrong with the configuration before it serves", async () => {
    await expect(createServer({ cwd: project("server: {profile: most}") })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("full, code, original"),
    });
  });
});

describe("runServer", () => {
  it("serves as the configuration says: token, port, tools of one's own", async () => {
    const token = "a-token-for-this-test-only";
    const cwd = project(`server: {auth_token: ${token}, port: 0}\nlogging: {level: error, file: server.log}`);
    const running = await runServer({
      cwd,
      trustFolder: true,
      transport: "http",
      customTools: [
        {
          name: "workspace",
          description: "",
          handler: (_input, { config }) => config.execution.workspaceDir,
        },
      ],
    });
    const url = running.url ?? "";
    expect((await post(url, INITIALIZE)).status).toBe(401);
    const authorization = `Bearer ${token}`;
    const opened = await post(url, INITIALIZE, { authorization });
    const session = { authorization, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    const called = await post(
      url,
      { method: "tools/call", params: { name: "workspace", arguments: {} } },
      session,
    );
    expect(await called.text()).toContain(path.join(cwd, "workspace"));
    await running.close(0);
    await expect(post(url, INITIALIZE)).rejects.toThrow("fetch failed");
    expect(existsSync(path.join(cwd, "server.log"))).toBe(true);
  });

  it.each([
    ["server: {host: 0.0.0.0, port: 0}", "ADDRESS_REFUSED"],
    ["server: {auth_token: short, port: 0}", "AUTH_INVALID"],
    [
      "server: {auth_token: long-enough-for-a-token, auth_issuer: 'https://a.example', port: 0}",
      "AUTH_INVALID",
    ],
  ])("refuses %s", async (config, code) => {
    await expect(
      runServer({ cwd: project(config), trustFolder: true, transport: "http" }),
    ).rejects.toMatchObject({ code });
  });

  it.each([
    "server: {auth_token: long-enough-for-a-token}",
    "server: {auth_issuer: 'https://a.example'}",
    "customers: {header: x-customer}",
  ])("does not serve without what a folder that is not trusted has for authorization: %s", async (config) => {
    const cwd = project(config);
    const serving = runServer({ cwd, transport: "http", port: 0 });
    await expect(serving).rejects.toMatchObject({ code: "FOLDER_UNTRUSTED", details: { folder: cwd } });
    const server = await createServer({ cwd });
    const given = runServer({ server, transport: "http", port: 0 });
    await expect(given).rejects.toMatchObject({ code: "FOLDER_UNTRUSTED" });
  });
});

describeWith("redis-server")("the readiness of a server with a store and without a queue", () => {
  it("is that of both: a program has run, and the store answers", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const config = { store: { url: redis.url } };
    const running = await runServer({
      cwd: project(),
      config,
      trustFolder: true,
      transport: "http",
      port: 0,
    });
    onTestFinished(() => running.close(0));
    const answer = async () => {
      const answered = await fetch(new URL("/readyz", running.url));
      return `${answered.status} ${await answered.text()}`;
    };
    await expect.poll(answer, { timeout: 60_000 }).toBe("200 ready\n");
    await redis.kill();
    expect(await answer()).toMatch(/^503 .*STORE_UNAVAILABLE/u);
    await redis.start();
    await expect.poll(answer, { timeout: 60_000 }).toBe("200 ready\n");
  });
});
