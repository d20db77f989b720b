import { readFileSync } from "node:fs";
import path from "node:path";
import { metrics } from "@opentelemetry/api";
import { DataPointType, MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import { afterAll, describe, expect, it } from "vitest";
import { measure, observeOwners, observeQueue, observeSandbox } from "./index.ts";

interface Panel {
  id: number;
  title: string;
  fieldConfig: { defaults: { unit: string } };
  gridPos: { x: number; y: number; w: number; h: number };
  targets: { expr: string }[];
}

class Reader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

const root = path.resolve(import.meta.dirname, "../../../..");
const dashboard = JSON.parse(readFileSync(path.join(root, "docs/public/grafana-dashboard.json"), "utf8")) as {
  panels: Panel[];
};

/** The series that Prometheus makes of the metrics received over OTLP, with the labels of each. */
async function exported(): Promise<Map<string, Set<string>>> {
  const reader = new Reader();
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  const counted = {
    running: 1,
    waiting: 0,
    hits: 1,
    reused: 2,
    misses: 3,
    started: 4,
    lost: 0,
    discarded: 1,
  };
  observeSandbox(() => ({ standby: 1, kept: 1, taken: 1, ...counted }));
  observeQueue(async () => ({ waiting: 3, running: 2, dead: 1, workers: 4, oldestWaitMs: 1_500 }));
  observeOwners(() => 5);
  measure("runs", 1, { kind: "code", status: "success", isolation: "namespaces" });
  measure("runDuration", 0.2, { kind: "code" });
  measure("stageDuration", 0.1, { stage: "run" });
  measure("refusals", 1, { code: "RUN_TIMED_OUT" });
  measure("toolCalls", 1, { ok: "true" });
  measure("tokensKeptOut", 7);
  measure("serverOperation", 0.1);
  measure("clientOperation", 0.1);
  measure("queueWait", 0.1);
  const { resourceMetrics } = await reader.collect();
  const series = new Map<string, Set<string>>();
  for (const metric of resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics)) {
    const labels = new Set(metric.dataPoints.flatMap(({ attributes }) => Object.keys(attributes)));
    const unit = metric.descriptor.unit === "s" ? "_seconds" : "";
    const name = `${metric.descriptor.name.replaceAll(".", "_")}${unit}`;
    if (metric.dataPointType === DataPointType.HISTOGRAM) series.set(`${name}_bucket`, labels.add("le"));
    else if (metric.dataPointType === DataPointType.SUM && metric.isMonotonic)
      series.set(`${name}_total`, labels);
    else series.set(name, labels);
  }
  return series;
}

describe("the dashboard", () => {
  afterAll(() => metrics.disable());

  it("asks for metrics, labels and units that exist, and leaves none out", async () => {
    const series = await exported();
    const used = new Set<string>();
    for (const { title, targets, fieldConfig } of dashboard.panels) {
      for (const { expr } of targets) {
        const [name = "", ...more] = [...expr.matchAll(/\b(?:cem|mcp)_[a-z_]+/gu)].map(([found]) => found);
        used.add(name);
        const by = /by \(([^)]*)\)/u.exec(expr)?.[1]?.split(", ") ?? [];
        expect({
          title,
          more,
          unknownLabels: by.filter((label) => series.get(name)?.has(label) !== true),
          isInSeconds: fieldConfig.defaults.unit === "s",
          isRate: /rate\(|increase\(/u.test(expr),
        }).toEqual({
          title,
          more: [],
          unknownLabels: [],
          isInSeconds: /_seconds(?:_bucket)?$/u.test(name),
          isRate: /_(?:total|bucket)$/u.test(name),
        });
      }
    }
    expect([...used].toSorted()).toEqual([...series.keys()].toSorted());
  });

  it("has panels that do not overlap, each with a number of its own", () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size).toBe(panels.length);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  });
});
