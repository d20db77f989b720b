import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { hasRedis, startRedis } from "../../../packages/store-redis/test/redis-server.ts";
import { S3_KEY, startS3 } from "../../../packages/workspace-sync/test/s3-server.ts";
import { connectClient, startMachine, told } from "./testing/queue-machines.ts";
import { runCem, temporaryFolder } from "./testing/run-cem.ts";

/** Counts up in the file of the state. */
const COUNT = `const file = "/workspace/state.json";
  const { step = 0 } = JSON.parse(await Deno.readTextFile(file).catch(() => "{}"));
  await Deno.writeTextFile(file, JSON.stringify({ step: step + 1 }));
  return step + 1;`;

describe.skipIf(!hasRedis)("cem worker on machines without a shared disk", () => {
  it.each(["store", "s3"])("gives what one run saved to the next on another machine (%s)", async (files) => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const s3 = await startS3();
    onTestFinished(() => s3.stop());
    const env = {
      CEM_TRUST_FOLDER: "1",
      CEM_QUEUE_URL: redis.url,
      CEM_STORE_URL: redis.url,
      CEM_STORE_FILES: files === "s3" ? s3.url : "store",
      AWS_ACCESS_KEY_ID: S3_KEY.accessKeyId,
      AWS_SECRET_ACCESS_KEY: S3_KEY.secretAccessKey,
    };
    const host = (): string => {
      const cwd = temporaryFolder();
      writeFileSync(path.join(cwd, "config.yaml"), "execution: {type_check: off}\nlogging: {level: info}\n");
      return cwd;
    };
    const [server, one, two] = [host(), host(), host()];
    const url = await told(
      startMachine(["serve", "http", "--port", "0"], { cwd: server, env }),
      /"url":"([^"]+)"/u,
    );
    const client = await connectClient(url);
    const steps: unknown[] = [];
    // One worker after the other, so that it is known who carries out which run.
    for (const cwd of [one, two, one]) {
      const worker = startMachine(["worker"], { cwd, env });
      await told(worker, /"msg":"taking runs"/u);
      const answer = await client.execute(COUNT);
      expect(answer).toMatchObject({ success: true });
      steps.push(answer["result"]);
      worker.kill("SIGTERM");
      expect((await worker.ended).code).toBe(143);
    }
    expect(steps).toEqual([1, 2, 3]);
    const sessions = path.join(one, "workspace/sessions");
    const logged = readdirSync(sessions).filter((name) => /^session_\d+\.json$/u.test(name));
    const results = logged.map(
      (name) => JSON.parse(readFileSync(path.join(sessions, name), "utf8")).tasks[0].result,
    );
    expect(results).toEqual(expect.arrayContaining([1, 2, 3]));
    const shown = await runCem(["exec", "-"], { cwd: server, env, input: COUNT });
    expect(shown.stdout).toContain("4");
    await client.close();
  });
});
