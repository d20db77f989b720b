import { randomBytes } from "node:crypto";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { hasPostgres, startPostgres } from "../../../packages/store-postgres/test/postgres-server.ts";
import { hasRedis, startRedis } from "../../../packages/store-redis/test/redis-server.ts";
import { dumpRedis, watchRedis } from "../../../packages/store-redis/test/watch-redis.ts";
import { customerMachines } from "./testing/customer-machines.ts";
import type { Visit } from "./testing/customer-machines.ts";
import { JOBS } from "./testing/queue-machines.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 120_000 });

const [CUSTOMERS, ROUNDS] = process.env["CEM_TESTS"] === "all" ? [12, 8] : [4, 2];
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
    if (handle.startsWith("run-")) {
      const ended = await visit.call("read_result", { handle, end: true });
      expect(String(ended["error"])).toContain("There is no run");
    }
  }
  for (const other of others) {
    if (other.visit.session === undefined) continue;
    const headers = { "mcp-session-id": other.visit.session };
    for (let at = 0; at < 2; at++)
      expect(await visit.ask({ method: "tools/list" }, headers)).toMatchObject({ status: 404 });
  }
}

const PLACES = [
  ...(hasRedis ? [{ name: "Redis, sealed", startStore: undefined, keys: KEY }] : []),
  ...(hasRedis && hasPostgres
    ? [{ name: "PostgreSQL, in clear", startStore: startPostgres, keys: undefined }]
    : []),
];

describe.each(PLACES)("customers of two servers and two workers ($name)", ({ startStore, keys }) => {
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
        for (const text of [stored, traffic.seen()])
          expect(text.includes(secret), secret).toBe(keys === undefined);
    }
  });
});
