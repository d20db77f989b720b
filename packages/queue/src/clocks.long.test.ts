import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { startRedis } from "../../store/test/redis-server.ts";
import { realWorkers } from "../test/real-workers.ts";
import { createRunQueue } from "./index.ts";
import { describeWith } from "../../../vitest.tools.ts";

const LOST_AFTER_MS = 1_000;
const HOURS_MS = 2 * 3_600_000;
const RUNS = 60;
const OWNERS = 3;
/** Longer than a worker may be silent: its lock has to be kept. */
const SLOW_MS = 3 * LOST_AFTER_MS;
const STOPS = 6;

/** A command that starts Node with a clock that is so far ahead. */
function clockAhead(ms: number): string[] {
  const module = `const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...parts) { if (parts.length > 0) super(...parts); else super(Real.now() + ${ms}); }
      static now() { return Real.now() + ${ms}; }
    };`;
  const url = `data:text/javascript;base64,${Buffer.from(module).toString("base64")}`;
  return ["env", `NODE_OPTIONS=--import=${url}`];
}

async function setUp() {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const workers = realWorkers(redis.url, LOST_AFTER_MS);
  const queue = createRunQueue({ url: redis.url });
  onTestFinished(() => queue.close());
  const run = (id: number) => {
    const ms = id % 10 === 0 ? SLOW_MS : 20;
    const input = JSON.stringify({ tool: "send", id: String(id), ms });
    const owner = `owner${id % OWNERS}`;
    return queue.execute({ kind: "code", input, owner }, { runId: String(id) });
  };
  const calls = () => workers.calls().toSorted();
  return { work: workers.work, run, calls };
}

const ids = Array.from({ length: RUNS }, (_, index) => index);
const once = ids.map((id) => `send ${id}`).toSorted();

describeWith("redis-server")("machines that differ", { timeout: 240_000 }, () => {
  it("lose and repeat nothing when the clock of one is hours ahead and of another hours behind", async () => {
    const { work, run, calls } = await setUp();
    await Promise.all([work(clockAhead(HOURS_MS)), work(clockAhead(-HOURS_MS)), work()]);
    const results = await Promise.all(ids.map(run));
    expect(results.map(({ status }) => status)).toEqual(ids.map(() => "success"));
    expect(calls()).toEqual(once);
    // The same keys again: the machine that is ahead must not have taken them for old.
    const again = await Promise.all(ids.map(run));
    expect(again.map(({ value }) => value)).toEqual(results.map(({ value }) => value));
    expect(calls()).toEqual(once);
  });

  it("repeat nothing when one stands still in turns, and say what was interrupted", async () => {
    const { work, run, calls } = await setUp();
    const [halting] = await Promise.all([work(), work()]);
    const over = new AbortController();
    const halts = (async () => {
      for (let stop = 0; stop < STOPS && !over.signal.aborted; stop += 1) {
        halting.kill("SIGSTOP");
        await sleep(2 * LOST_AFTER_MS);
        halting.kill("SIGCONT");
        await sleep(LOST_AFTER_MS);
      }
    })();
    const results = await Promise.all(ids.map(run));
    over.abort();
    await halts;
    const wrong = results.filter(({ status, value, error }, id) =>
      status === "success"
        ? !isDeepStrictEqual(value, { done: String(id) })
        : error?.code !== "RUN_INTERRUPTED" || !isDeepStrictEqual(error.details?.["calls"], ["jobs.send"]),
    );
    expect(wrong).toEqual([]);
    const made = calls();
    expect(made).toEqual([...new Set(made)]);
  });
});
