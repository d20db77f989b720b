// Run by `npm run test:packed` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { createFolderStore, parseSealingKeys, scopeStore, sealStore } from "@cem/store";
import { createPostgresStore } from "@cem/store/postgres";
import { createRedisStore } from "@cem/store/redis";

const keys = parseSealingKeys(`one:${Buffer.alloc(32, 1).toString("base64")}`);
const store = sealStore(createFolderStore({ folder: "shared" }), keys);
const customer = scopeStore(store, "customers", "ada");
await customer.write(["state"], Buffer.from("1"), { version: "" });
await assert.rejects(customer.write(["state"], Buffer.from("2"), { version: "" }), {
  code: "STORE_CONFLICT",
});
assert.deepEqual(await store.list([]), [["customers", "ada", "state"]]);
await store.close();

// Nothing listens there: the message needs the driver, and must not have the password.
for (const away of [
  createRedisStore({ url: "redis://cem:secret@127.0.0.1:1/0" }),
  createPostgresStore({ url: "postgresql://cem:secret@127.0.0.1:1/cem" }),
]) {
  await assert.rejects(
    away.read(["greeting"]),
    ({ code, message }) => code === "STORE_UNAVAILABLE" && !message.includes("secret"),
  );
  await away.close();
}

if (spawnSync("redis-server", ["--version"]).status === 0) {
  const port = 20_000 + (process.pid % 20_000);
  const server = spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--save", ""], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      if (/ready to accept connections/i.test(line)) break;
    }
    const redis = createRedisStore({ url: `redis://127.0.0.1:${port}/0` });
    await redis.write(["greeting"], Buffer.from("hello"));
    assert.equal(Buffer.from((await redis.read(["greeting"])).value).toString(), "hello");
    await redis.close();
  } finally {
    server.kill("SIGKILL");
  }
}
