// Run by `npm run test:packed` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { createRedisStore } from "@cem/store-redis";

// Nothing listens there: what it says needs the driver, and keeps the password to itself.
const away = createRedisStore({ url: "redis://cem:secret@127.0.0.1:1/0" });
await assert.rejects(
  away.read(["greeting"]),
  ({ code, message }) => code === "STORE_UNAVAILABLE" && !message.includes("secret"),
);
await away.close();

if (spawnSync("redis-server", ["--version"]).status === 0) {
  const port = 20_000 + (process.pid % 20_000);
  const server = spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--save", ""], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      if (/ready to accept connections/i.test(line)) break;
    }
    const store = createRedisStore({ url: `redis://127.0.0.1:${port}/0` });
    await store.write(["greeting"], Buffer.from("hello"));
    assert.equal(Buffer.from((await store.read(["greeting"])).value).toString(), "hello");
    await store.close();
  } finally {
    server.kill("SIGKILL");
  }
}
