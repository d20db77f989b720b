import { expect, it } from "vitest";
import { createWorkerMetrics } from "./metrics.ts";

it("counts the runs of a worker, and reads its queue at each scrape", async () => {
  let isReachable = true;
  const { registry, onFinished } = createWorkerMetrics(async () => {
    if (!isReachable) throw new Error("away");
    return { waiting: 3, running: 2, dead: 1, workers: 4, oldestWaitMs: 1_500 };
  });
  onFinished({ kind: "code", ms: 20, status: "error" });
  const text = await registry.metrics();
  expect(text).toContain('cem_runs_total{kind="code",status="error"} 1');
  for (const line of ['runs{state="waiting"} 3', 'runs{state="error"} 1', 'workers{state="connected"} 4'])
    expect(text).toContain(`cem_queue_${line}`);
  expect(text).toContain('cem_queue_oldest_wait_seconds{state="waiting"} 1.5');
  isReachable = false;
  expect(await registry.metrics()).not.toContain("cem_queue_runs{");
});
