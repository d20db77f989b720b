import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { startPostgres } from "../../../packages/store/test/postgres-server.ts";
import { startRedis } from "../../../packages/store/test/redis-server.ts";
import { dumpRedis, watchRedis } from "../../../packages/store/test/watch-redis.ts";
import { customerMachines } from "./testing/customer-machines.ts";
import type { CustomerMachines, Visit } from "./testing/customer-machines.ts";
import { JOBS } from "./testing/queue-machines.ts";
import { describeWith } from "../../../vitest.tools.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 120_000 });

const [CUSTOMERS, ROUNDS] = process.env["CEM_TESTS"] === "all" ? [8, 3] : [4, 2];
const KEY = `first:${randomBytes(32).toString("base64")}`;
const TOKEN = /\[\[[A-Z_]+:[a-z2-7]+\]\]|[\w.-]+@redacted\.invalid/gu;
const HANDLE = /\/workspace\/results\/[\w.-]+/gu;

/** A customer with secrets, which nobody else may come by. */
interface Secretive {
  visit: Visit;
  canary: string;
  address: string;
}

/** Leaves the canary in all places that one can, by a run that outlasts its call. */
async function plant({ visit, canary, address }: Secretive, round: number): Promise<void> {
  const text = JSON.stringify(`${canary} ${round}`);
  const planted = await visit.run(`${JOBS}
    await Deno.writeTextFile("/workspace/note-${round}.txt", ${text});
    await Deno.writeTextFile("/workspace/state.json", JSON.stringify({ canary: ${text} }));
    globalThis.left = ${text};
    console.log(${text});
    await send({ id: ${JSON.stringify(`${visit.id} ${address}`)}, ms: 1200 });
    console.log(${JSON.stringify(address)});
    return ${text} + ${JSON.stringify(address)};`);
  expect(planted).toMatchObject({ success: true });
  await visit.run(`return ${text}.repeat(3000);`);
  await visit.run(`throw new Error(${text});`);
  await visit.call("save_state", { state_data: { canary: text }, state_file: "other.json" });
  await visit.call("save_skill", {
    name: `own-${round}`,
    description: canary,
    code: "export const own = (x: number): number => x;",
    test: `import { own } from "./skills/own-${round}/index.ts";\nreturn own(1) === 1;`,
  });
}

/** Looks for what others have, with all that they were told. */
async function look({ visit }: Secretive, others: readonly Secretive[]): Promise<void> {
  const told = others.flatMap((other) => [
    ...other.visit.runs,
    ...(other.visit.heard.match(TOKEN) ?? []),
    ...(other.visit.heard.match(HANDLE) ?? []),
  ]);
  await visit.run(`${JOBS}
    const seen = [globalThis.left];
    const read = (file) => { try { seen.push(Deno.readTextFileSync(file).slice(0, 300)); } catch {} };
    const visit = (at, depth) => {
      try {
        for (const one of Deno.readDirSync(at)) {
          const file = at + "/" + one.name;
          seen.push(one.name);
          if (one.isDirectory && depth < 4 && !file.includes("servers")) visit(file, depth + 1); else read(file);
        }
      } catch {}
    };
    for (const at of ["/workspace", "/tmp", "..", "../..", "/workspace/../${others[0]?.visit.id}"]) visit(at, 0);
    for (const token of ${JSON.stringify([...new Set(told)].slice(0, 40))}) {
      read(token);
      try { seen.push(JSON.stringify(await look({ id: "${visit.id} " + token }))); } catch {}
    }
    return [...new Set(seen)].join("\\n").slice(0, 30000);`);
  await visit.call("get_state", {});
  await visit.call("list_skills", {});
  await visit.call("search_tools", { query: "own canary note" });
  for (const handle of told) {
    const found = await visit.call("read_result", { handle });
    expect(String(found["error"])).toMatch(/There is no|RESULT_NOT_FOUND|not found|no such/iu);
  }
  for (const handle of told.filter((one) => one.startsWith("run-"))) {
    const ended = await visit.call("read_result", { handle, end: true });
    expect(String(ended["error"])).toContain("There is no run");
  }
  for (const other of others) {
    if (other.visit.session === undefined) continue;
    const headers = { "mcp-session-id": other.visit.session };
    for (let at = 0; at < 2; at++)
      expect(await visit.ask({ method: "tools/list" }, headers)).toMatchObject({ status: 404 });
  }
}

const customersOf = "customers of two servers and two workers";
describeWith("redis-server")(`${customersOf} (Redis, sealed)`, () => describeCustomers(undefined, KEY));
describeWith("redis-server", "postgresql")(`${customersOf} (PostgreSQL, in clear)`, () =>
  describeCustomers(startPostgres, undefined),
);

function describeCustomers(startStore: typeof startPostgres | undefined, keys: string | undefined): void {
  it("hear nothing of each other, whichever processes their requests meet", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const store = startStore === undefined ? redis : await startStore();
    if (store !== redis) onTestFinished(() => store.stop());
    const machines = await customerMachines({ redisUrl: redis.url, storeUrl: store.url, keys });
    await Promise.all([machines.work(), machines.work()]);
    const traffic = await watchRedis(redis.url);
    onTestFinished(() => traffic.stop());
    const secretive = await Promise.all(
      Array.from({ length: CUSTOMERS }, async (_, index): Promise<Secretive> => {
        const secret = randomBytes(9).toString("hex");
        const generation = index % 2 === 0 ? "legacy" : { pin: "2026-07-28" as const };
        const visit = await machines.come(`customer${index}`, { generation });
        return { visit, canary: `canary${secret}`, address: `${secret}@customer-secret.example` };
      }),
    );
    for (let round = 0; round < ROUNDS; round++) await Promise.all(secretive.map((one) => plant(one, round)));
    await Promise.all(
      secretive.map((one) =>
        look(
          one,
          secretive.filter((other) => other !== one),
        ),
      ),
    );
    // Read by itself: the others' guests have ended.
    const stored = await dumpRedis(redis.url);
    const said = machines.logs();
    for (const { visit, canary, address } of secretive) {
      expect(visit.runs.length).toBeGreaterThan(0);
      expect(visit.heard).toContain(canary);
      for (const other of secretive) {
        if (other.visit === visit) continue;
        expect(visit.heard).not.toContain(other.canary);
        expect(visit.heard).not.toContain(other.address);
      }
      expect(said).not.toContain(canary);
      expect(said).not.toContain(address);
      const sent = machines.calls().filter((call) => call.includes(address));
      expect(sent.filter((call) => call.split(" ")[1] !== visit.id)).toEqual([]);
      // In clear it is found: the proof can fail.
      for (const secret of [canary, address])
        for (const text of [stored, traffic.seen()]) expect(text.includes(secret)).toBe(keys === undefined);
    }
  });
}

describeWith("redis-server")("a customer's quota", () => {
  it("is one for all servers and workers, and says when to come again", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const [runs, more] = [12, 8];
    const machines = await customerMachines({
      redisUrl: redis.url,
      storeUrl: redis.url,
      customers: { quotas: [{ per: "hour", runs }] },
    });
    await Promise.all([machines.work(), machines.work()]);
    const comers = await Promise.all(
      ["ada", "bob"].flatMap((id) => machines.urls.map((url) => machines.come(id, { url }))),
    );
    const answers = await Promise.all(
      Array.from({ length: (runs + more) * 2 }, async (_, at) => {
        const visit = comers[at % comers.length];
        return { id: visit?.id, answer: await visit?.run(`return ${at};`) };
      }),
    );
    for (const id of ["ada", "bob"]) {
      const own = answers.filter((one) => one.id === id).map(({ answer }) => answer ?? {});
      expect(own).toHaveLength(runs + more);
      const refused = own.filter(({ success }) => success !== true);
      expect(refused).toHaveLength(more);
      for (const { error } of refused) {
        expect(String(error)).toContain(`${runs} of ${runs} runs per hour are used up. Nothing was run.`);
        expect(String(error)).toMatch(/They are free again in \d+ min\./u);
      }
    }
    const shown = await machines.admin(["customers", "usage", "ada", "--json"]);
    expect(JSON.parse(shown.stdout)).toMatchObject({ customers: [{ quotas: [{ runs, maxRuns: runs }] }] });
  });
});

/** The files below some folders that hold a text. */
function filesWith(folders: readonly string[], text: string): string[] {
  const found = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name)),
  );
  return found.filter((file) => !file.endsWith("jobs.log") && readFileSync(file).includes(text));
}

async function deleteByCommand(machines: CustomerMachines): Promise<boolean> {
  return (await machines.admin(["customers", "delete", "adalovelace", "--yes"])).code === 0;
}

async function deleteByConsole({ urls, token }: CustomerMachines): Promise<boolean> {
  const answer = await fetch(new URL("/api/v1/customers/adalovelace", urls[0]), {
    method: "DELETE",
    headers: {
      authorization: `Bearer ${await token("adalovelace")}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ confirm: "adalovelace" }),
  });
  return answer.status === 200;
}

describeWith("redis-server")("a customer who is deleted", () => {
  it.each([
    ["the command", undefined],
    ["the console", KEY],
  ])("by %s is gone from all processes, and the next one finds nothing", async (by, keys) => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const machines = await customerMachines({
      redisUrl: redis.url,
      storeUrl: redis.url,
      keys,
      customers: { idle: 4, quotas: [{ per: "hour", runs: 1000 }] },
      queue: { concurrency: 1 },
    });
    // Of three slots a customer has two at most.
    await Promise.all([machines.work(), machines.work(), machines.work()]);
    const canary = `canary${randomBytes(9).toString("hex")}`;
    const text = JSON.stringify(canary);
    const bob = await machines.come("bob");
    const secretive = {
      visit: await machines.come("adalovelace"),
      canary,
      address: `${canary}@secret.example`,
    };
    const { visit } = secretive;
    await Promise.all([plant(secretive, 0), plant(secretive, 1)]);
    const kept = await visit.call("execute_code", {
      code: `${JOBS} await look({ id: "kept", ms: 1500 }); return ${text};`,
    });
    expect(kept["run"]).toEqual(expect.stringMatching(/^run-/u));
    const running = [0, 1].map((at) =>
      visit.run(
        `${JOBS} console.log(${text}); await look({ id: "running-${at}", ms: 60000 }); return await look({ id: ${text} });`,
      ),
    );
    await expect
      .poll(() => machines.calls(), { timeout: 60_000 })
      .toEqual(expect.arrayContaining(["look running-0", "look running-1"]));
    const waiting = [0, 1, 2].map((at) =>
      visit.run(`${JOBS} return await look({ id: "waited-${at}" + ${text} });`),
    );
    await expect
      .poll(async () => JSON.parse((await machines.admin(["queue", "status", "--json"])).stdout), {
        timeout: 60_000,
      })
      .toMatchObject({ waiting: 3 });

    const deleted = by === "the command" ? await deleteByCommand(machines) : await deleteByConsole(machines);
    expect(deleted).toBe(true);
    for (const ended of await Promise.all([...running, ...waiting]))
      expect(String(ended["error"])).toContain("deleted");
    expect(machines.calls().filter((call) => call.includes("waited-") || call === `look ${canary}`)).toEqual(
      [],
    );
    expect((await dumpRedis(redis.url)).includes(canary)).toBe(false);
    // For two minutes its last word about each run says whose it was.
    const named = (await dumpRedis(redis.url)).split("\n").filter((line) => line.includes("adalovelace"));
    expect(named.filter((line) => keys !== undefined || !/^\S+:messages /u.test(line))).toEqual([]);
    await expect.poll(() => filesWith(machines.folders, canary), { timeout: 60_000 }).toEqual([]);

    const next = await machines.come("adalovelace");
    await next.run(`const seen = [];
      for (const one of Deno.readDirSync("/workspace")) {
        seen.push(one.name);
        try { seen.push(Deno.readTextFileSync("/workspace/" + one.name)); } catch {}
      }
      return seen;`);
    await next.call("get_state", {});
    await next.call("get_state", { state_file: "other.json" });
    await next.call("list_skills", {});
    await next.call("search_tools", { query: "own canary" });
    for (const handle of [kept["run"], ...visit.runs, ...(visit.heard.match(HANDLE) ?? [])])
      await next.call("read_result", { handle });
    for (const token of new Set(visit.heard.match(TOKEN)))
      await next.run(`${JOBS} return await look({ id: ${JSON.stringify(`next ${token}`)} });`);
    expect(machines.calls().filter((call) => call.startsWith("look next") && call.includes(canary))).toEqual(
      [],
    );
    expect(next.heard).not.toContain(canary);
    const usage = await machines.admin(["customers", "usage", "adalovelace", "--json"]);
    // Earlier runs go on counting: six runs that planted, one that was kept, and two under way.
    const used = 9 + new Set(visit.heard.match(TOKEN)).size + 1;
    expect(JSON.parse(usage.stdout)).toMatchObject({ customers: [{ quotas: [{ runs: used }] }] });
    expect(await bob.run("return 1;")).toMatchObject({ success: true, result: 1 });
  });
});

describeWith("redis-server")("keys of a store and a queue", () => {
  it("are changed one process after the other, while customers' runs go on", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const next = `second:${randomBytes(32).toString("base64")}`;
    const steps = [KEY, `${KEY},${next}`, `${next},${KEY}`];
    const machines = await customerMachines({ redisUrl: redis.url, storeUrl: redis.url, keys: KEY });
    await Promise.all([machines.work(), machines.work()]);
    const secret = randomBytes(9).toString("hex");
    const generation = { pin: "2026-07-28" as const };
    const visit = await machines.come("ada", { generation });
    const secretive = { visit, canary: `canary${secret}`, address: `${secret}@customer-secret.example` };
    await plant(secretive, 0);
    const [token] = visit.heard.match(TOKEN) ?? [];
    const over = new AbortController();
    const answers: Record<string, unknown>[] = [];
    const going = ["bob", "eve"].map(async (id) => {
      const other = await machines.come(id, { generation });
      while (!over.signal.aborted)
        answers.push(await other.run(`${JOBS} return await look({ id: "${id}", ms: 50 });`));
    });
    for (const keys of steps.slice(1)) {
      const before = [...machines.machines];
      const [one, two] = await Promise.all([
        machines.serve(keys),
        machines.serve(keys),
        machines.work(keys),
        machines.work(keys),
      ]);
      machines.urls.splice(0, machines.urls.length, one.url, two.url);
      const answered = answers.length;
      // A request that the proxy took before goes on at the old ones.
      await expect.poll(() => answers.length, { timeout: 60_000 }).toBeGreaterThan(answered + 4);
      for (const machine of before) machine.kill("SIGTERM");
      await Promise.all(before.map(({ ended }) => ended));
    }
    over.abort();
    await Promise.all(going);
    expect(answers.filter(({ success }) => success !== true)).toEqual([]);
    const state = await visit.call("get_state", {});
    expect(JSON.stringify(state)).toContain(secretive.canary);
    expect(await visit.run(`${JOBS} return await look({ id: ${JSON.stringify(token)} });`)).toMatchObject({
      success: true,
    });
    // A value that the guest printed in one piece counts as one address.
    expect(
      machines.calls().filter((call) => call.startsWith("look") && call.endsWith(secretive.address)),
    ).toHaveLength(1);
    const sealedWith = async (key: string): Promise<string[]> =>
      (await dumpRedis(redis.url))
        .split("\n")
        .filter((line) => line.includes(`\\u0001${String.raw`\u000${key.length}`}${key}`))
        .map((line) => line.slice(0, 120));
    const older = await sealedWith("first");
    const doctor = await machines.admin(["doctor"], steps.at(-1));
    expect(doctor.stdout).toMatch(/sealed with .*first/u);
    const newer = await sealedWith("second");
    expect(await visit.run(`return 1;`)).toMatchObject({ success: true });
    // Nothing is sealed anew, and what is written has the new key.
    expect(older).toEqual(expect.arrayContaining(await sealedWith("first")));
    await expect
      .poll(async () => (await sealedWith("second")).length, { timeout: 60_000 })
      .toBeGreaterThan(newer.length);
  });
});
