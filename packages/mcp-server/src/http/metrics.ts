import { addMetricSink, METRIC_BUCKETS, type MetricSink } from "@cem/core/telemetry";
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { RunRegistry } from "../runs/run-registry.ts";

/** Metrics for Prometheus. Labels have few values, none of which are chosen by clients or code. */
export interface PrometheusMetrics {
  readonly registry: Registry;
  /** Stops collecting. */
  close: () => void;
}

/** Opens the metrics of a server, with the function that counts one HTTP request by its status. */
export function createMetrics(runs: Pick<RunRegistry, "active" | "kept">, sessions: () => number) {
  const metrics = openMetrics();
  const registers = [metrics.registry];
  const requests = new Counter({
    name: "cem_http_requests_total",
    help: "HTTP requests by status.",
    labelNames: ["status"],
    registers,
  });
  const count = (name: string, help: string, read: () => number): Gauge =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  count("cem_runs_active", "Runs under way, those waiting for a guest among them.", () => runs.active);
  count("cem_runs_kept", "Runs that outlasted their call and can still be asked for.", () => runs.kept);
  count("cem_sessions", "Sessions of the older protocol, and open SSE streams.", sessions);
  return { ...metrics, countRequest: (status: number) => requests.inc({ status: String(status) }) };
}

/** Opens a registry with the metrics of the process and the OpenTelemetry metrics, under their OTLP names. */
export function openMetrics(): PrometheusMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return { registry, close: addMetricSink(prometheusSink(registry)) };
}

function prometheusSink(registry: Registry): MetricSink {
  const registers = [registry];
  return {
    create({ name, description: help, isTime }) {
      const named = { name: `${plain(name)}_${isTime ? "seconds" : "total"}`, help, registers };
      let made: Counter | Histogram | undefined;
      return (value, attributes) => {
        const labels = labelsOf(attributes);
        // Prometheus needs label names up front: those of the first value are used.
        const settings = { ...named, labelNames: Object.keys(labels) };
        made ??= isTime ? new Histogram({ ...settings, buckets: METRIC_BUCKETS }) : new Counter(settings);
        if ("observe" in made) made.observe(labels, value);
        else made.inc(labels, value);
      };
    },
    observe({ kind, name, description: help, attribute, read }) {
      const [Kind, end] = kind === "Gauge" ? [Gauge, ""] : [Counter, "_total"];
      // oxlint-disable-next-line no-new -- the registry has it
      new Kind({
        name: `${plain(name)}${end}`,
        help,
        labelNames: [attribute],
        registers,
        async collect() {
          const found = await read();
          this.reset();
          for (const [value, figure] of Object.entries(found)) this.inc({ [attribute]: value }, figure);
        },
      });
    },
  };
}

function labelsOf(attributes: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [plain(name), String(value)]));
}

function plain(name: string): string {
  return name.replaceAll(".", "_");
}

export async function answerMetrics(registry: Registry): Promise<Response> {
  return new Response(await registry.metrics(), { headers: { "content-type": registry.contentType } });
}
