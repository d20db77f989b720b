import { randomUUID } from "node:crypto";
import { createPostgresStore } from "@cem/store-postgres";
import { createRedisStore } from "@cem/store-redis";
import { scopeStore } from "@cem/store";
import { afterAll, beforeAll, describe } from "vitest";
import { hasPostgres, startPostgres } from "../../../store-postgres/test/postgres-server.ts";
import { hasRedis, startRedis } from "../../../store-redis/test/redis-server.ts";
import { describeRunRecords } from "../../../workspace/test/run-records-contract.ts";

const STORES = [
  { name: "Redis", isHere: hasRedis, start: startRedis, create: createRedisStore },
  { name: "PostgreSQL", isHere: hasPostgres, start: startPostgres, create: createPostgresStore },
];

for (const { name, isHere, start, create } of STORES) {
  describe.skipIf(!isHere)(`records in ${name}`, () => {
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
