import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { startRedis } from "../../../packages/store/test/redis-server.ts";
import { S3_KEY, startS3 } from "../../../packages/workspace/test/sync/s3-server.ts";
import { describeWith } from "../../../vitest.tools.ts";
import { connectClient, startMachine, told } from "./testing/queue-machines.ts";
import { runCem, temporaryFolder } from "./testing/run-cem.ts";

const [RUNS, KILLS] = process.env["CEM_TESTS"] === "all" ? [200, 12] : [24, 3];
const MOST_LOST = 4;

interface Looked {
  value: { runs: number; bad: string[]; states: object };
}
const WAIT = { timeout: 240_000, interval: 20 };

/** Counts up in the file of the state. */
const COUNT = `const file = "/workspace/state.json";
  const { step = 0 } = JSON.parse(await Deno.readTextFile(file).catch(() => "{}"));
  await Deno.writeTextFile(file, JSON.stringify({ step: step + 1 }));
  return step + 1;`;

describeWith("redis-server")("cem worker on machines without a shared disk", () => {
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

  it("has the files of all runs after a worker was killed in the middle of some", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const env = {
      CEM_TRUST_FOLDER: "1",
      CEM_QUEUE_URL: redis.url,
      CEM_STORE_URL: redis.url,
      CEM_STORE_FILES: "store",
    };
    const [server, one, two] = ["server", "one", "two"].map(() => {
      const cwd = temporaryFolder();
      const config =
        "execution: {type_check: off}\nlogging: {level: info}\nqueue: {concurrency: 1, lost_after: 2}\n";
      writeFileSync(path.join(cwd, "config.yaml"), config);
      return cwd;
    }) as [string, string, string];
    const url = await told(
      startMachine(["serve", "http", "--port", "0"], { cwd: server, env }),
      /"url":"([^"]+)"/u,
    );
    const client = await connectClient(url);
    const work = async (cwd: string): Promise<ReturnType<typeof startMachine>> => {
      const worker = startMachine(["worker"], { cwd, env });
      await told(worker, /"msg":"taking runs"/u);
      return worker;
    };
    let [first, second] = await Promise.all([work(one), work(two)]);
    let answered = 0;
    const runs = Array.from({ length: RUNS }, async (_, run) => {
      const answer = await client.execute(`const file = "/workspace/state.json";
        const state = JSON.parse(await Deno.readTextFile(file).catch(() => "{}"));
        await Deno.writeTextFile("/workspace/run-${run}.txt", "${run} ".repeat(50_000));
        await Deno.writeTextFile(file, JSON.stringify({ ...state, run${run}: ${run} }));
        return ${run};`);
      answered += 1;
      return answer["result"] ?? answer["error"];
    });
    for (let kills = 1; kills <= KILLS; kills += 1) {
      await vi.waitFor(() => expect(answered).toBeGreaterThanOrEqual((kills * RUNS) / (KILLS + 2)), WAIT);
      await sleep(Math.random() * 50);
      first.kill("SIGKILL");
      await first.ended;
      [first, second] = [second, await work(kills % 2 === 1 ? one : two)];
    }
    const answers = await Promise.all(runs);
    const done = answers.flatMap((answer, run) => (answer === run ? [run] : []));
    // Kills follow each other so closely that a run can lose as many workers as no run may.
    const others = answers.filter((answer, run) => answer !== run);
    expect(others.filter((answer) => !String(answer).includes("3 workers were lost"))).toEqual([]);
    expect(others.length).toBeLessThanOrEqual(MOST_LOST);
    for (const worker of [first, second]) {
      worker.kill("SIGTERM");
      await worker.ended;
    }
    // Files that a killed worker had not put back are shared when it begins again.
    for (const cwd of [one, two]) await runCem(["exec", "-"], { cwd, env, input: "return 1;" });
    const look = `const files = {};
      for await (const { name } of Deno.readDir("/workspace"))
        if (/^(run-|state)/.test(name)) files[name] = await Deno.readTextFile("/workspace/" + name);
      const texts = Object.keys(files).filter((name) => name.startsWith("run-"));
      const bad = texts.filter((name) => files[name] !== (name.slice(4, -4) + " ").repeat(50_000));
      const states = Object.keys(files).filter((name) => name.startsWith("state"));
      return { runs: texts.length, bad, states: Object.assign({}, ...states.map((name) => JSON.parse(files[name]))) };`;
    const shown = await runCem(["exec", "-", "--json"], { cwd: server, env, input: look });
    const looked = JSON.parse(shown.stdout) as Looked;
    expect(looked).toMatchObject({ status: "success" });
    const { value } = looked;
    expect(value.runs).toBeGreaterThanOrEqual(done.length);
    expect(value.bad.filter((name) => done.some((run) => name === `run-${run}.txt`))).toEqual([]);
    expect(value.states).toMatchObject(Object.fromEntries(done.map((run) => [`run${run}`, run])));
    await client.close();
  });
});
