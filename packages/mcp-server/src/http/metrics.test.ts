import { measure, observeQueue } from "@cem/core/telemetry";
import { expect, it } from "vitest";
import { openMetrics } from "./metrics.ts";

it("counts the runs of a process, and reads the queue at each scrape", async () => {
  let isReachable = true;
  const read = async () => {
    if (!isReachable) throw new Error("away");
    return { waiting: 3, running: 2, dead: 1, workers: 4, oldestWaitMs: 1_500 };
  };
  const stopObserving = observeQueue(read);
  const { registry, close } = openMetrics();
  measure("runs", 1, { kind: "code", status: "error", isolation: "none" });
  measure("clientOperation", 0.2, { "mcp.method.name": "tools/call" });
  const text = await registry.metrics();
  expect(text).toContain('cem_runs_total{kind="code",status="error",isolation="none"} 1');
  expect(text).toContain('mcp_client_operation_duration_seconds_count{mcp_method_name="tools/call"} 1');
  for (const line of ['runs{state="waiting"} 3', 'runs{state="error"} 1', 'workers{state="connected"} 4'])
    expect(text).toContain(`cem_queue_${line}`);
  expect(text).toContain('cem_queue_oldest_wait_seconds{state="waiting"} 1.5');
  isReachable = false;
  expect(await registry.metrics()).not.toMatch(/cem_queue_(?:runs|workers)\{/);
  stopObserving();
  close();
  measure("runs", 1, { kind: "code", status: "error", isolation: "none" });
  expect(await registry.metrics()).toContain('status="error",isolation="none"} 1');
});
