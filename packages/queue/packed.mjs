// Run by `npm run test:packed` in an empty folder where only the packed package is installed.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { createRunQueue, startQueueWorker } from "@cem/queue";

const agent = {
  specificationVersion: "v1",
  executeCode: async (code) => ({
    status: "success",
    value: code.length,
    output: "",
    error: null,
    calls: [],
  }),
  dispose: async () => {},
};
if (spawnSync("redis-server", ["--version"]).status === 0) {
  const port = 20_000 + (process.pid % 20_000);
  const server = spawn("redis-server", ["--port", String(port), "--bind", "127.0.0.1", "--save", ""], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      if (/ready to accept connections/i.test(line)) break;
    }
    const connection = { url: `redis://127.0.0.1:${port}/0` };
    const worker = await startQueueWorker({ ...connection, agentFor: async () => agent });
    const queue = createRunQueue(connection);
    const { value } = await queue.agent(agent, "user_12345").executeCode("return 6 * 7;");
    assert.equal(value, 13);
    await queue.close();
    await worker.close();
  } finally {
    server.kill("SIGKILL");
  }
}
