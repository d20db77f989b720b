import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { AgentEvent, TaskResult } from "@cem/core";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { customerUsage, deleteCustomer } from "./admin.ts";
import { createAgent, runServer } from "./index.ts";
import type { Agent, AgentOptions, ConfigInput } from "./index.ts";

vi.setConfig({ testTimeout: 240_000 });

const FOREVER = "for (;;) await new Promise((resolve) => setTimeout(resolve, 5));";
const WAIT = { timeout: 60_000 };
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "cem-quotas-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

const home = (id: string): string => path.join(folder, "workspaces", id);

function optionsOf(customers: ConfigInput["customers"], customer?: string): AgentOptions {
  return {
    customer,
    configFile: false,
    config: {
      customers: { dir: path.join(folder, "workspaces"), ...customers },
      server: { trustedProxies: ["127.0.0.1"] },
      execution: {
        workspaceDir: path.join(folder, "workspace"),
        serversDir: path.join(folder, "servers"),
        skillsDir: path.join(folder, "skills"),
        typeCheck: "off",
      },
      optimizations: { toolCache: false, sandboxPooling: false },
      logging: { level: "CRITICAL" },
    },
  };
}

function open(customer: string, customers: ConfigInput["customers"] = {}): Agent {
  const agent = createAgent(optionsOf(customers, customer));
  onTestFinished(() => agent.dispose());
  return agent;
}

describe("quotas of a customer", () => {
  it("end with a refusal, for agents of the same customer together, and for no other", async () => {
    const quotas = [{ per: "hour" as const, runs: 3 }];
    const agents = [open("ada", { quotas }), open("ada", { quotas })];
    const results = await Promise.all(
      [0, 1, 2].flatMap((at) => agents.map((agent) => agent.executeCode(`return ${at};`))),
    );
    expect(results.filter((result) => result.status === "success")).toHaveLength(3);
    expect(results.find((result) => result.status === "refused")).toMatchObject({
      error: {
        code: "QUOTA_EXCEEDED",
        message: expect.stringMatching(
          /3 of 3 runs per hour are used up\. Nothing was run\. They are free again in \d+ min\.$/u,
        ),
        details: { quota: "runs", retryAfterMs: expect.any(Number) },
      },
    });
    // Nor is code written for a task.
    const written: string[] = [];
    const onEvent = ({ type }: AgentEvent) => written.push(type);
    const task = await agents[0]?.executeTask("Calculate 5 + 3", { onEvent });
    expect(task).toMatchObject({ status: "refused", error: { code: "QUOTA_EXCEEDED" }, code: "" });
    expect(written).not.toContain("generated");
    expect(await open("bob", { quotas }).executeCode("return 1;")).toMatchObject({ value: 1 });
    expect(await customerUsage("ada", optionsOf({ quotas }))).toMatchObject({
      quotas: [{ per: "hour", runs: 3, maxRuns: 3, seconds: expect.any(Number) }],
    });
    // Nor is a quota of the same customer lost with its processes.
    await Promise.all(agents.map((agent) => agent.dispose()));
    expect(await open("ada", { quotas }).executeCode("return 1;")).toMatchObject({ status: "refused" });
  });

  it("cut a run that would use up the seconds, in a loop that never yields too", async () => {
    for (const [customer, code] of Object.entries({ ada: "for (;;);", bob: FOREVER })) {
      const agent = open(customer, { quotas: [{ per: "day", seconds: 0.6 }] });
      const result = await agent.executeCode(code);
      expect(result).toMatchObject({
        status: "error",
        error: {
          code: "QUOTA_EXCEEDED",
          message: expect.stringMatching(
            /0\.6 of 0\.6 seconds of runs per day are used up\. The run was stopped\. They are free again in 24 h\.$/u,
          ),
          details: { quota: "seconds", reason: "meter" },
        },
      });
      expect(await agent.executeCode("return 1;")).toMatchObject({ error: { code: "QUOTA_EXCEEDED" } });
    }
  });

  it("are told to clients, with the time to wait, and the logs tell whose they are", async () => {
    const customers = {
      quotas: [{ per: "day" as const, runs: 1 }],
      header: "x-customer",
    };
    const options = optionsOf(customers);
    const [file, auditFile] = [path.join(folder, "log"), path.join(folder, "audit.jsonl")];
    const config = { ...options.config, logging: { level: "INFO" as const, file, auditFile } };
    const running = await runServer({ ...options, config, transport: "http", port: 0 });
    onTestFinished(() => running.close(0));
    for (const [customer, mode] of [
      ["ada", "legacy"],
      ["bob", { pin: "2026-07-28" }],
    ] as const) {
      const client = new Client({ name: "c", version: "1" }, { versionNegotiation: { mode } });
      const requestInit = { headers: { "x-customer": customer } };
      const waits: (string | null)[] = [];
      const noting: typeof fetch = async (...request) => {
        const answer = await fetch(...request);
        waits.push(answer.headers.get("retry-after"));
        return answer;
      };
      const url = new URL(running.url ?? "");
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit, fetch: noting }));
      const run = () => client.callTool({ name: "execute_code", arguments: { code: "return 1;" } });
      expect(await run()).toMatchObject({ structuredContent: { success: true } });
      expect(await run()).toMatchObject({
        isError: true,
        structuredContent: {
          error: expect.stringContaining("1 of 1 runs per day are used up"),
          retry_after_seconds: expect.any(Number),
        },
      });
      // An event stream has begun before the run ends.
      expect(waits.some((seconds) => Number(seconds) > 0)).toBe(mode !== "legacy");
      await client.close();
    }
    await running.close(0);
    const [log, audit] = await Promise.all([readFile(file, "utf8"), readFile(auditFile, "utf8")]);
    for (const id of ["ada", "bob"]) {
      // As `printf 'customer ada' | sha256sum` says it.
      const digest = hash("sha256", `customer ${id}`).slice(0, 16);
      expect(log).toMatch(new RegExp(`"customer":"${digest}".*"code":"QUOTA_EXCEEDED".*"msg":"run"`));
      expect(log).toMatch(new RegExp(`of customer ${digest} ended: refused`));
      const lines = audit.split("\n").filter((line) => line.includes(`"customer":"${digest}"`));
      expect(lines.filter((line) => line.includes('"type":"run-ended"'))).toHaveLength(2);
      expect(log + audit).not.toMatch(new RegExp(`\\b${id}\\b`));
    }
  });
});

describe("guests", () => {
  it("are shared fairly: another's hundred runs do not hold up a customer's first", async () => {
    const [ada, bob] = [open("ada"), open("bob")];
    const stop = new AbortController();
    const hundred = Array.from({ length: 100 }, (_, at) =>
      ada.executeCode(FOREVER, { signal: stop.signal, session: `s${at % 10}` }),
    );
    await vi.waitFor(() => {
      const stats = ada.sandboxStats?.();
      expect(stats?.running).toBeGreaterThan(0);
      expect((stats?.running ?? 0) + (stats?.waiting ?? 0)).toBe(100);
    }, WAIT);
    // None of the hundred ever ends by itself.
    expect(await bob.executeCode("return 2;")).toMatchObject({ value: 2 });
    stop.abort();
    await Promise.all(hundred);
  });
});

describe("deleting a customer", () => {
  it("ends what runs, and leaves nothing, even where code keeps writing", async () => {
    const agent = open("ada");
    const code = 'for (let at = 0; ; at += 1) await Deno.writeTextFile(`/workspace/${at % 500}.txt`, "x");';
    const running = agent.executeCode(code);
    await vi.waitFor(() => expect(existsSync(path.join(home("ada"), "workspace/100.txt"))).toBe(true), WAIT);
    await deleteCustomer("ada", optionsOf({}));
    // It ends by the deletion, or by a write into a folder that is gone, whichever it meets first.
    expect(await running).toMatchObject({ status: "error" });
    expect(await agent.executeCode("return 1;")).toMatchObject({ error: { code: "OWNER_GONE" } });
    await agent.dispose();
    expect(await readdir(path.join(folder, "workspaces"))).toEqual([]);
  });

  it("makes a server forget the customer, who may come again and finds nothing", async () => {
    const customers = { header: "x-customer" };
    const running = await runServer({ ...optionsOf(customers), transport: "http", port: 0 });
    onTestFinished(() => running.close(0));
    const client = new Client({ name: "c", version: "1" });
    const requestInit = { headers: { "x-customer": "ada" } };
    await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? ""), { requestInit }));
    const run = async (code: string) =>
      JSON.stringify(await client.callTool({ name: "execute_code", arguments: { code } }));
    const save = { state_data: { mail: "canary@customer-secret.example" } };
    await client.callTool({ name: "save_state", arguments: save });
    const endless = run(`await Deno.writeTextFile("/workspace/begun.txt", ""); ${FOREVER}`);
    await vi.waitFor(
      () => expect(existsSync(path.join(home("ada"), "workspace/begun.txt"))).toBe(true),
      WAIT,
    );
    await deleteCustomer("ada", optionsOf({}));
    expect(await endless).toMatch(/was deleted/u);
    expect(await readdir(path.join(folder, "workspaces"))).toEqual([]);
    expect(JSON.stringify(await client.callTool({ name: "get_state", arguments: {} }))).not.toContain("mail");
    expect(await run("return 5;")).toContain('\\"result\\":5');
    await client.close();
  });
});

describe("the sessions of a customer", () => {
  it("are logged beside the workspace, where code can read and not write them", async () => {
    const agent = open("ada");
    await agent.executeCode("return 41;");
    const { step } = await agent.checkpoint();
    expect(step).toBe(1);
    const log = path.join(home("ada"), "sessions/session_001.json");
    expect(JSON.parse(await readFile(log, "utf8"))).toMatchObject({ customer_uid: "ada", tasks: [{}] });
    const read: TaskResult = await agent.executeCode(
      'return JSON.parse(await Deno.readTextFile("/workspace/sessions/session_001.json")).tasks.length;',
    );
    expect(read).toMatchObject({ error: null, value: 1 });
    const written = await agent.executeCode(
      'await Deno.writeTextFile("/workspace/sessions/session_001.json", "{}");',
    );
    expect(written.status).toBe("error");
    await agent.dispose();
    expect(existsSync(path.join(home("bob"), "sessions"))).toBe(false);
    const resumed = createAgent({ ...optionsOf({}, "ada"), resume: "last" });
    await resumed.executeCode("return 42;");
    await resumed.dispose();
    expect(JSON.parse(await readFile(log, "utf8")).tasks.length).toBeGreaterThan(2);
  });
});
