import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { describeWith } from "../../../vitest.tools.ts";
import { startPostgres } from "../../store/test/postgres-server.ts";
import { startRedis } from "../../store/test/redis-server.ts";
import { customerUsage, deleteCustomer } from "./admin.ts";

const MACHINE = fileURLToPath(new URL("../test/shared-machine.ts", import.meta.url));
const IMPORT = 'import { find, is_ada, remove } from "./servers/crm/index.ts";';
const key = (byte: number): string => Buffer.alloc(32, byte).toString("base64");
const OLD = `old:${key(1)}`;
const NEW = `new:${key(2)}`;
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

/** How long a server is away. */
const AWAY_MS = process.env["CEM_TESTS"] === "all" ? 60_000 : 500;

interface Answer {
  value?: unknown;
  error?: string;
  asked: number;
}

interface Server {
  url: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A process with folders of its own. */
function machine(folder: string, url: string, keys: string) {
  const child = spawn(process.execPath, ["--conditions=@cem/source", MACHINE, folder, url, keys], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, LOG_LEVEL: "CRITICAL" },
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async run(body: string, session = "talk"): Promise<Answer> {
      child.stdin.write(`${JSON.stringify({ code: `${IMPORT} ${body}`, session })}\n`);
      const { value, done } = await answers.next();
      if (done === true) throw new Error("The machine has ended.");
      return JSON.parse(value) as Answer;
    },
    async close(): Promise<void> {
      const gone = once(child, "exit");
      child.stdin.end();
      await gone;
    },
  };
}

describeWith("redis-server")("two machines that share Redis", () => describeMachines(startRedis));
describeWith("postgresql")("two machines that share PostgreSQL", () => describeMachines(startPostgres));

function describeMachines(start: () => Promise<Server>): void {
  let server: Server;
  let place: string;
  beforeAll(async () => {
    server = await start();
    place = mkdtempSync(path.join(os.tmpdir(), "cem-machines-"));
  });
  afterAll(async () => {
    await server.stop();
    rmSync(place, { recursive: true, force: true, maxRetries: 5 });
  });

  const admin = (keys: string) => ({
    cwd: path.join(place, "a"),
    configFile: false as const,
    config: {
      store: { url: server.url, keys },
      customers: { quotas: [{ per: "day" as const, runs: 8 }] },
    },
  });

  it("know each other's tokens and answers, count one quota, and outlive an outage", async () => {
    const [one, two] = ["a", "b"].map((name) => machine(path.join(place, name), server.url, OLD));
    if (one === undefined || two === undefined) throw new Error("unreachable");

    const found = await one.run("return await find({});");
    expect(found.value).toEqual({ email: expect.stringMatching(/^\[\[EMAIL:|@redacted\.invalid$/) });
    const { email } = found.value as { email: string };
    expect(await two.run(`return await is_ada({ email: ${JSON.stringify(email)} });`)).toMatchObject({
      value: true,
    });
    expect((await two.run("return await find({});")).value).toEqual(found.value);

    expect(await one.run("return await remove({});")).toMatchObject({ value: "removed", asked: 1 });
    // A yes for a session holds in the process that asked.
    expect(await two.run("return await remove({});")).toMatchObject({ value: "removed", asked: 1 });
    expect(await two.run("return await remove({});")).toMatchObject({ value: "removed", asked: 1 });

    await server.kill();
    expect(await two.run("return 1;")).toMatchObject({ error: expect.stringMatching(/^STORE_UNAVAILABLE$/) });
    await delay(AWAY_MS);
    await server.start();
    await expect
      .poll(() => one.run("return 1;"), { timeout: 60_000, interval: 500 })
      .toMatchObject({ value: 1 });

    await expect
      .poll(() => two.run("return 2;"), { timeout: 60_000, interval: 500 })
      .toMatchObject({ value: 2 });
    expect(await one.run("return 3;")).toMatchObject({ error: "QUOTA_EXCEEDED" });
    expect(await two.run("return 3;")).toMatchObject({ error: "QUOTA_EXCEEDED" });
    expect((await customerUsage("ada", admin(OLD))).quotas).toMatchObject([{ runs: 8 }]);
    await Promise.all([one.close(), two.close()]);
  });

  it("have nothing of a customer who was deleted", async () => {
    await expect(deleteCustomer("ada", admin(NEW))).rejects.toMatchObject({ code: "STORE_SEALED" });
    const changing = admin(`${NEW},${OLD}`);
    await deleteCustomer("ada", changing);
    await expect(customerUsage("ada", changing)).rejects.toMatchObject({ code: "CUSTOMER_NOT_FOUND" });
  });
}
