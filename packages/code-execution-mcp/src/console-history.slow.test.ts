import { mkdtempSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createClient as generate } from "@hey-api/openapi-ts";
import { createCustomerFolders } from "@cem/workspace";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createAgent, runServer } from "./index.ts";
import type { RunningServer } from "./index.ts";

const TOKEN = "a-token-that-is-long-enough";
const LONG = { timeout: 30_000, interval: 50 };
const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };

/** An operation of the generated client. */
type Operation = (request?: object) => Promise<{ data?: Record<string, unknown>; error?: unknown }>;

let cwd = "";
let running: RunningServer;
let api: Record<string, Operation>;

async function serve(config: object = {}): Promise<RunningServer> {
  return runServer({
    cwd,
    transport: "http",
    port: 0,
    config: {
      logging: { level: "CRITICAL" },
      server: { authToken: TOKEN, trustedProxies: ["127.0.0.1"] },
      workflows: [
        {
          name: "greet",
          steps: [
            { name: "first", type: "code_execution", config: { code: "return 1;" } },
            { name: "second", type: "code_execution", needs: ["first"], config: { code: "return 2;" } },
          ],
        },
      ],
      ...config,
    },
  });
}

beforeAll(async () => {
  cwd = mkdtempSync(path.join(os.tmpdir(), "cem-console-history-"));
  const agent = createAgent({ cwd, oneRun: true, records: true });
  await agent.executeCode("return 4711;");
  await agent.dispose();
  const long = createAgent({ cwd, oneRun: true, records: true, sessions: false });
  await long.executeCode(`return 4712;\n// ${"x".repeat(70_000)}`);
  await long.dispose();
  running = await serve();
  const origin = new URL(running.url ?? "").origin;
  const described = path.join(cwd, "openapi.json");
  writeFileSync(described, await (await fetch(`${origin}/api/openapi.json`, { headers })).text());
  const output = path.join(cwd, "client");
  await generate({
    input: described,
    output: { path: output, module: { extension: ".ts" } },
    plugins: ["@hey-api/client-fetch", "@hey-api/sdk"],
    logs: { level: "silent" },
  });
  const { client } = (await import(path.join(output, "client.gen.ts"))) as {
    client: { setConfig: (config: object) => void };
  };
  client.setConfig({ baseUrl: origin, headers });
  api = (await import(path.join(output, "sdk.gen.ts"))) as typeof api;
});
afterAll(() => running?.close(0));

const ask = async (operation: string, request?: object) => (await api[operation]?.(request))?.data;

describe("a client that is generated of the served description", () => {
  it("starts a run, reads it, and finds those of earlier processes", async () => {
    const started = await ask("startCode", { body: { code: "return 5 + 3;" } });
    const id = String(started?.["id"]);
    await vi.waitFor(async () => {
      expect(await ask("getRun", { path: { id } })).toMatchObject({ status: "success", value: 8 });
    }, LONG);
    const runs = (await ask("listRuns"))?.["runs"] as { id: string; title: string }[];
    expect(runs.map(({ title }) => title)).toEqual(["return 5 + 3;", "return 4712;", "return 4711;"]);
    const [long = "", earlier = ""] = runs.slice(1).map((run) => run.id);
    const whole = { inputIsCut: false, codeIsCut: false };
    expect(await ask("getRun", { path: { id } })).toMatchObject(whole);
    expect(await ask("getRun", { path: { id: earlier } })).toMatchObject({
      value: 4711,
      kind: "code",
      ...whole,
    });
    const cut = { inputIsCut: true, codeIsCut: true };
    expect(await ask("getRun", { path: { id: long } })).toMatchObject({ value: 4712, ...cut });
    expect((await ask("listRuns", { query: { text: "4711" } }))?.["runs"]).toMatchObject([{ id: earlier }]);
    expect((await ask("listRuns", { query: { status: "error" } }))?.["runs"]).toEqual([]);
  });

  it("draws workflows by their names only, and lists sessions and guests", async () => {
    expect(await ask("listWorkflows")).toMatchObject({ workflows: [{ name: "greet", steps: 2 }] });
    expect(await ask("drawWorkflow", { path: { name: "greet" } })).toMatchObject({
      steps: [{ text: "first" }, { text: "second" }],
    });
    writeFileSync(path.join(cwd, "other.yaml"), "name: other\nsteps: []\n");
    for (const name of ["other.yaml", "../other.yaml", "nothing"])
      expect((await api["drawWorkflow"]?.({ path: { name } }))?.error).toBeDefined();
    expect(await ask("listWorkflowRuns")).toEqual({ runs: [] });
    const { sessions } = (await ask("listSessions")) as { sessions: { id: string; tasks: number }[] };
    expect(sessions).toContainEqual(expect.objectContaining({ id: "session_001", tasks: 1 }));
    expect(await ask("getSession", { path: { id: "session_001" } })).toMatchObject({
      tasks: [{ code: "return 4711;" }],
    });
    expect(await ask("getGuests")).toMatchObject({ counts: { started: expect.any(Number) } });
  });

  it("removes a customer only when the id is confirmed", async () => {
    const folders = createCustomerFolders(path.join(cwd, "workspaces"));
    await folders.open("ada");
    expect(await ask("listCustomers")).toMatchObject({ customers: [{ id: "ada" }] });
    const remove = async (id: string, confirm: string) =>
      (await api["deleteCustomer"]?.({ path: { id }, body: { confirm } }))?.error;
    expect(await remove("ada", "bob")).toMatchObject({ error: { code: "OPTION_INVALID" } });
    expect(await remove("bob", "bob")).toMatchObject({ error: { code: "CUSTOMER_NOT_FOUND" } });
    expect(await remove("ada", "ada")).toBeUndefined();
    expect(await folders.list()).toEqual([]);
  });
});

describe("a customer", () => {
  it("sees its own runs, sessions and usage only, and can remove nobody else", async () => {
    const several = await serve({ customers: { header: "x-customer" } });
    const origin = new URL(several.url ?? "").origin;
    const as = async (customer: string, target: string, init: RequestInit = {}) => {
      const answer = await fetch(`${origin}/api/v1/${target}`, {
        ...init,
        headers: { ...headers, "x-customer": customer },
      });
      return { status: answer.status, data: (await answer.json()) as Record<string, unknown> };
    };
    try {
      const { data } = await as("ada", "runs", { method: "POST", body: `{"code":"return 1;"}` });
      await vi.waitFor(async () => {
        expect((await as("ada", `runs/${String(data["id"])}`)).data["status"]).toBe("success");
      }, LONG);
      expect((await as("bob", "runs")).data["runs"]).toEqual([]);
      expect((await as("ada", "runs")).data["runs"]).toHaveLength(1);
      expect((await as("bob", "sessions")).data["sessions"]).toEqual([]);
      expect((await as("bob", "customers")).data["customers"]).toMatchObject([{ id: "bob" }]);
      const removal = { method: "DELETE", body: `{"confirm":"ada"}` };
      expect((await as("bob", "customers/ada", removal)).status).toBe(404);
      expect((await as("ada", "customers/ada", removal)).status).toBe(200);
      expect((await as("ada", "runs")).data["runs"]).toEqual([]);
    } finally {
      await several.close(0);
    }
  });
});
