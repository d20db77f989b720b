import { randomUUID } from "node:crypto";
import { createPostgresStore } from "@cem/store/postgres";
import { createRedisStore } from "@cem/store/redis";
import { scopeStore } from "@cem/store";
import { afterAll, beforeAll } from "vitest";
import { startPostgres } from "../../../store/test/postgres-server.ts";
import { startRedis } from "../../../store/test/redis-server.ts";
import { describeRunRecords } from "../../../workspace/test/run-records-contract.ts";
import { describeWith } from "../../../../vitest.tools.ts";

const STORES = [
  { name: "Redis", needs: "redis-server", start: startRedis, create: createRedisStore },
  { name: "PostgreSQL", needs: "postgresql", start: startPostgres, create: createPostgresStore },
] as const;

for (const { name, needs, start, create } of STORES) {
  describeWith(needs)(`records in ${name}`, () => {
    let server: { url: string; stop: () => Promise<void> };
    beforeAll(async () => {
      server = await start();
    }, 120_000);
    afterAll(() => server.stop());

    describeRunRecords(name, () => {
      const place = randomUUID();
      return async () => {
        const store = create({ url: server.url });
        return { ...scopeStore(store, place, "runs"), close: () => store.close() };
      };
    });
  });
}
