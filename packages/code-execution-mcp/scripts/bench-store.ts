// Cost of a store for a run, beside files on this machine: quota and personal data of one customer.
//   node --conditions=@cem/source packages/code-execution-mcp/scripts/bench-store.ts [runs]
import { mkdirSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "../../../scripts/temporary-folder.ts";
import { startPostgres } from "../../store/test/postgres-server.ts";
import { startRedis } from "../../store/test/redis-server.ts";
import { createAgent } from "../src/index.ts";

const CODE = "return 6 * 7;";
const WARM_UP = 30;
const KEYS = `a:${Buffer.alloc(32, 1).toString("base64")}`;
const runs = Number(process.argv[2] ?? 400);

const folder = temporaryFolder("cem-bench-store");
const [redis, postgres] = [await startRedis(), await startPostgres()];
const places = {
  files: undefined,
  folder: path.join(folder, "shared"),
  redis: redis.url,
  postgres: postgres.url,
};

/** An agent that keeps all that can be shared: in files, or in a store. */
function agentFor(name: string, url: string | undefined) {
  const cwd = path.join(folder, name);
  mkdirSync(path.join(cwd, "servers"), { recursive: true });
  const shared = url === undefined ? {} : { store: { url, keys: KEYS } };
  return createAgent({
    cwd,
    configFile: false,
    customer: "ada",
    config: {
      ...shared,
      logging: { level: "CRITICAL", auditFile: "audit.jsonl" },
      execution: { typeCheck: "off" },
      customers: { quotas: [{ per: "day", runs: 1_000_000 }] },
      privacy: url === undefined ? { vault: "disk", vaultKey: "00".repeat(32) } : {},
    },
  });
}

const agents = Object.entries(places).map(([name, url]) => ({
  name,
  agent: agentFor(name, url),
  times: [] as number[],
}));
// By turns, so that what else the machine does meets all of them.
for (let at = -WARM_UP; at < runs; at += 1) {
  for (const { agent, times } of agents) {
    const began = performance.now();
    const { status } = await agent.executeCode(CODE, { session: "talk" });
    if (status !== "success") throw new Error(`A run ended as ${status}.`);
    if (at >= 0) times.push(performance.now() - began);
  }
}
const medianOf = (times: number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
const files = medianOf(agents[0]?.times ?? []);
for (const { name, times } of agents) {
  const median = medianOf(times);
  process.stdout.write(
    `${name.padEnd(10)} p50 ${median.toFixed(2)} ms, ${(median - files).toFixed(2)} ms more than files, ${(median / files).toFixed(2)} times\n`,
  );
}
await Promise.all(agents.map(({ agent }) => agent.dispose()));
await Promise.all([redis.stop(), postgres.stop()]);
