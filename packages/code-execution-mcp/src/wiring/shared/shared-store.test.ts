import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { inspect } from "node:util";
import { toErrorInfo } from "@cem/core";
import type { CemError, ToolInvoker } from "@cem/core";
import { createRedactor } from "@cem/pii";
import { createSharedVaults } from "@cem/pii/vaults";
import { createFolderStore, storeUnavailable } from "@cem/store";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { hintFor } from "@cem/core/errors";
import { defineTool, runServer } from "../../index.ts";
import { createCallGuards } from "../calls/call-guards.ts";
import { openProject } from "../open-project.ts";
import type { Project } from "../project.ts";
import { probeStore } from "./store.ts";

const KEYS = `first:${Buffer.alloc(32, 7).toString("base64")}`;

async function load(store: { url?: string; keys?: string }) {
  const cwd = await mkdtemp(path.join(os.tmpdir(), "cem-store-"));
  const loaded = await openProject({ cwd, configFile: false, config: { store } });
  onTestFinished(async () => {
    await loaded[Symbol.asyncDispose]();
    await rm(cwd, { recursive: true, force: true });
  });
  return { cwd, loaded };
}

const failureOf = async (url: string): Promise<unknown> => {
  const { loaded } = await load({ url });
  const opened = loaded.store?.get().then((store) => probeStore(store));
  return opened?.then(
    () => undefined,
    (error: unknown) => error,
  );
};

describe("the store of a configuration", () => {
  it("is none where no URL names one", async () => {
    expect((await load({ keys: KEYS })).loaded.store).toBeUndefined();
  });

  it("is a folder, from the folder of the configuration on, and sealed with keys", async () => {
    for (const [keys, isSealed] of [
      [undefined, false],
      [KEYS, true],
    ] as const) {
      const { cwd, loaded } = await load({ url: "./shared", ...(keys === undefined ? {} : { keys }) });
      const store = await loaded.store?.get();
      await store?.write(["greeting"], Buffer.from("hello"));
      expect(Buffer.from((await store?.read(["greeting"]))?.value ?? []).toString()).toBe("hello");
      await loaded[Symbol.asyncDispose]();
      expect((await readFile(path.join(cwd, "shared/store.db"))).includes("hello")).toBe(!isSealed);
    }
  });

  it("is not used without the keys of the others: nothing is ready, and no customer is opened", async () => {
    const { cwd, loaded } = await load({ url: "./shared", keys: KEYS });
    await loaded.forOwner("ada");
    await loaded.store?.get().then(probeStore);
    const url = path.join(cwd, "shared");
    const others = [{ url }, { url, keys: KEYS.replace("first", "second") }];
    for (const { loaded: other } of await Promise.all(others.map((store) => load(store)))) {
      const sealed = { code: "STORE_SEALED" };
      await expect(other.store?.get().then(probeStore)).rejects.toMatchObject(sealed);
      await expect(other.forOwner("ada")).rejects.toMatchObject(sealed);
    }
  });

  it.each(["./workspace/shared", "./servers", "./workspaces/ada/workspace/x", "."])(
    "is refused where code can reach it: %s",
    async (url) => {
      expect(await failureOf(url)).toMatchObject({
        code: "CONFIG_INVALID",
        details: { setting: "store.url" },
      });
    },
  );

  it.each([
    ["redis://ada:hidden@127.0.0.1:1/3", "valkey"],
    ["postgres://ada:hidden@127.0.0.1:1/work", "postgresql"],
    ["/dev/null/store", "CEM_STORE_URL"],
  ])("says what to start when it does not answer: %s", async (url, started) => {
    const failure = await failureOf(url);
    expect(failure).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(hintFor(toErrorInfo(failure))).toContain(started);
    expect(inspect(failure, { depth: 9 })).not.toContain("hidden");
  });

  it("refuses keys that are none, without showing them", async () => {
    const { loaded } = await load({ url: "./shared", keys: "first:tooshort" });
    const failure = await loaded.store?.get().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "CONFIG_INVALID", details: { setting: "store.keys" } });
    expect(inspect(failure, { depth: 9 })).not.toContain("tooshort");
  });
});

describe("rate limits of a customer", () => {
  const LIMITS = [{ tools: ["mail.send"], calls: 2, per: 600 }];
  const tool: ToolInvoker = { specificationVersion: "v1", invoke: async () => ({ ok: true, value: null }) };

  async function open(cwd: string, store: { url?: string } = {}): Promise<Project> {
    const config = { guardrails: { rateLimits: LIMITS }, store };
    const project = await openProject({ cwd, configFile: false, config });
    onTestFinished(() => project[Symbol.asyncDispose]());
    return project;
  }

  /** Makes calls at once with an agent that is opened for them, and counts those that were made. */
  async function made(project: Project, id: string, calls: number): Promise<number> {
    const { guards } = await createCallGuards(await project.forOwner(id), {});
    const invoker = guards.reduceRight((next, guard) => guard(next), tool);
    const { signal } = new AbortController();
    const call = { server: "mail", tool: "send", args: {} };
    const ended = await Promise.all(
      Array.from({ length: calls }, (_, at) =>
        invoker.invoke(call, { signal, session: `s${at}` }).then(
          () => "made",
          ({ code }: CemError) => code,
        ),
      ),
    );
    expect(new Set([...ended, "made", "RATE_LIMITED"]).size).toBe(2);
    return ended.filter((one) => one === "made").length;
  }

  it("outlive the agent and the customer, and are no other's", async () => {
    const { cwd } = await load({});
    const project = await open(cwd);
    expect(await made(project, "ada", 1)).toBe(1);
    await rm(path.join(cwd, "workspaces"), { recursive: true });
    expect([await made(project, "ada", 2), await made(project, "bob", 3)]).toEqual([1, 2]);
  });

  it("hold for all who share a store together, whose keys name nobody", async () => {
    const { cwd } = await load({});
    const projects = [await open(cwd, { url: "./shared" }), await open(cwd, { url: "./shared" })];
    const counts = await Promise.all(projects.map((project) => made(project, "ada", 10)));
    expect(counts.reduce((sum, one) => sum + one)).toBe(2);
    expect(await made(await open(cwd, { url: "./shared" }), "ada", 1)).toBe(0);
    const store = await projects[0]?.store?.get();
    expect(JSON.stringify(await store?.list(["limits"]))).toMatch(/^\[\["limits","[0-9a-f]{64}"\]\]$/u);
  });
});

describe("a run whose store goes away before its answer", () => {
  it.each([
    ["the run's own tokens can't be kept", "refunded for ada@example.com", "What was called was done"],
    ["what the answer may hold can't be looked up", "refunded", "can't be shown"],
  ])("is answered with its calls, and nothing that may have to be hidden: %s", async (_, answer, why) => {
    const cwd = await mkdtemp(path.join(os.tmpdir(), "cem-store-"));
    const kept = createFolderStore({ folder: path.join(cwd, "shared") });
    let isAway = false;
    const away = storeUnavailable("redis://10.0.0.7:6379/0", new Error("connect ECONNREFUSED"));
    const store: typeof kept = {
      ...kept,
      location: kept.location,
      read: (key) => (isAway ? Promise.reject(away) : kept.read(key)),
    };
    const refund = defineTool({
      description: "Refund an order.",
      execute: () => {
        isAway = true;
        return answer;
      },
    });
    const running = await runServer({
      cwd,
      transport: "http",
      port: 0,
      config: { logging: { level: "CRITICAL" }, guardrails: { approvals: [] } },
      tools: { shop: { refund } },
      redactor: createRedactor({
        shared: createSharedVaults({ store, keyOf: async (session) => [session] }),
      }),
    });
    const client = new Client({ name: "model", version: "1" });
    onTestFinished(async () => {
      await client.close();
      await running.close(0);
      await kept.close();
      await rm(cwd, { recursive: true, force: true });
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(running.url ?? "")));
    const code = `import { refund } from "./servers/shop/index.ts"; return await refund();`;
    const execute = () => client.callTool({ name: "execute_code", arguments: { code } });
    const made = /made 1 tool call \(among them shop\.refund 1x\); a retry does the same again/u;
    const { content, isError } = await execute();
    expect([isError, JSON.stringify(content)]).toEqual([true, expect.stringMatching(made)]);
    expect(JSON.stringify(content)).toContain(why);
    expect(JSON.stringify(content)).not.toMatch(/refunded|10\.0\.0\.7|ECONNREFUSED/u);
    // Nothing begins before the store is there.
    const next = JSON.stringify((await execute()).content);
    expect(next).toMatch(/does not work now \(STORE_UNAVAILABLE\)/u);
    expect(next).not.toMatch(/tool call|10\.0\.0\.7/u);
  });
});
