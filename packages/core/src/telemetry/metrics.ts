import type { Attributes, Meter, MeterProvider } from "@opentelemetry/api";
import { abandonOnAbort } from "../promises.ts";
import { registeredApi, SCOPE } from "./tracing.ts";
import type { SandboxStats } from "../index.ts";

/** The upper bounds of durations, in seconds. */
export const METRIC_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

const counter = (name: string, description: string) => ({ name, description, isTime: false });
const seconds = (name: string, description: string) => ({ name, description, isTime: true });

type Metric = ReturnType<typeof counter>;

/** The metrics of the project. No attribute has a value chosen by clients or code. */
const METRICS = {
  runs: counter("cem.runs", "Runs that ended, by kind, status and isolation."),
  runDuration: seconds("cem.run.duration", "How long runs took, waiting for a guest included."),
  stageDuration: seconds("cem.stage.duration", "How long the stages of runs took."),
  refusals: counter("cem.refusals", "Runs that ended without success, by the error's code."),
  toolCalls: counter("cem.tool_calls", "Calls that code made to tools."),
  tokensKeptOut: counter("cem.tokens_kept_out", "Tokens that a model would have read without the sandbox."),
  serverOperation: seconds("mcp.server.operation.duration", "How long requests of MCP clients took."),
  clientOperation: seconds("mcp.client.operation.duration", "How long requests to MCP servers took."),
  queueWait: seconds("cem.queue.wait.duration", "How long runs waited in the queue for a worker."),
};

type Measure = (value: number, attributes?: Attributes) => void;

/** Figures that are read on export, by the value of the attribute that distinguishes them. */
interface ObservedMetric {
  kind: "Gauge" | "Counter";
  name: string;
  description: string;
  attribute: string;
  read: () => Record<string, number> | Promise<Record<string, number>>;
}

/** A destination of metrics. */
export interface MetricSink {
  create(metric: Metric): Measure;
  observe(metric: ObservedMetric): void;
}

const sinks = new Set<ReadonlyMap<string, Measure>>();
let openTelemetry: { provider: MeterProvider; end: () => void } | undefined;

/** Sends metrics to a sink, too. @returns a function that removes the sink. */
export function addMetricSink(sink: MetricSink): () => void {
  const measures = new Map(Object.entries(METRICS).map(([key, metric]) => [key, sink.create(metric)]));
  for (const metric of OBSERVED) sink.observe(metric);
  sinks.add(measures);
  return () => void sinks.delete(measures);
}

/** Counts something, or measures a time in seconds. */
export function measure(metric: keyof typeof METRICS, value: number, attributes?: Attributes): void {
  exportMetrics();
  for (const measures of sinks) measures.get(metric)?.(value, attributes);
}

/** Sends metrics to OpenTelemetry if an SDK is set up, possibly after the first import. */
export function exportMetrics(): void {
  const provider = registeredApi()?.metrics.getMeterProvider();
  if (provider === undefined || provider === openTelemetry?.provider) return;
  openTelemetry?.end();
  openTelemetry = { provider, end: addMetricSink(sinkOf(provider.getMeter(SCOPE))) };
}

function sinkOf(meter: Meter): MetricSink {
  return {
    create({ name, description, isTime }) {
      const made = isTime
        ? meter.createHistogram(name, {
            description,
            unit: "s",
            advice: { explicitBucketBoundaries: METRIC_BUCKETS },
          })
        : meter.createCounter(name, { description });
      return (value, attributes) =>
        "record" in made ? made.record(value, attributes) : made.add(value, attributes);
    },
    observe({ kind, name, description, attribute, read }) {
      meter[`createObservable${kind}`](name, { description }).addCallback(async (result) => {
        for (const [value, figure] of Object.entries(await read()))
          result.observe(figure, { [attribute]: value });
      });
    },
  };
}

interface ObservedQueue {
  waiting: number;
  running: number;
  dead: number;
  /** Workers that take runs from it. */
  workers: number;
  /** How long the oldest run has waited; 0 where none waits. */
  oldestWaitMs: number;
}

const sandboxes = new Set<() => SandboxStats | undefined>();
/** Counts of disposed sandboxes: a counter must not decrease. */
const retired: Partial<SandboxStats> = {};
const queues = new Set<() => Promise<ObservedQueue>>();
const customers = new Set<() => number>();

/** @returns a function that ends the observation. */
export function observeSandbox(read: () => SandboxStats | undefined): () => void {
  sandboxes.add(read);
  return () => {
    if (!sandboxes.delete(read)) return;
    const last = read();
    for (const figure of CUMULATIVE) retired[figure] = (retired[figure] ?? 0) + (last?.[figure] ?? 0);
  };
}

/** Registers a reader that is called on export. @returns a function that ends the observation. */
export function observeQueue(read: () => Promise<ObservedQueue>): () => void {
  queues.add(read);
  return () => void queues.delete(read);
}

/** @returns a function that ends the observation. */
export function observeOwners(read: () => number): () => void {
  customers.add(read);
  return () => void customers.delete(read);
}

const CUMULATIVE = ["hits", "reused", "misses", "started", "lost", "discarded"] as const;

const observed = (
  kind: ObservedMetric["kind"],
  name: string,
  attribute: string,
  description: string,
  read: ObservedMetric["read"],
): ObservedMetric => ({ kind, name, attribute, description, read });

const OBSERVED: readonly ObservedMetric[] = [
  observed("Gauge", "cem.guests", "state", "Guests on standby, kept for a session, taken by a run.", () =>
    sums({ standby: "standby", kept: "kept", taken: "taken" }),
  ),
  observed("Gauge", "cem.sandbox.runs", "state", "Runs that have a guest, or wait for one.", () =>
    sums({ running: "running", waiting: "waiting" }),
  ),
  observed("Counter", "cem.guest.takes", "from", "Guests that runs got, by where from.", () =>
    sums({ pool: "hits", session: "reused", new: "misses" }),
  ),
  observed("Counter", "cem.guest.changes", "what", "Guests by what became of them.", () =>
    sums({ started: "started", lost: "lost", discarded: "discarded" }),
  ),
  observed("Gauge", "cem.customers", "state", "Customers whose agents are open in this process.", () =>
    customers.size === 0 ? {} : { open: [...customers].reduce((total, read) => total + read(), 0) },
  ),
  observed("Gauge", "cem.queue.runs", "state", "Runs in the queue: the same from every process.", () =>
    ofQueue(({ waiting, running, dead }) => ({ waiting, running, error: dead })),
  ),
  observed("Gauge", "cem.queue.workers", "state", "Workers that take runs from the queue.", () =>
    ofQueue(({ workers }) => ({ connected: workers })),
  ),
  observed("Gauge", "cem.queue.oldest_wait_seconds", "state", "How long the oldest run has waited.", () =>
    ofQueue(({ oldestWaitMs }) => ({ waiting: oldestWaitMs / 1_000 })),
  ),
];

function sums(figures: Record<string, keyof SandboxStats>): Record<string, number> {
  const sum = (figure: keyof SandboxStats): number =>
    [...sandboxes].reduce((total, read) => total + (read()?.[figure] ?? 0), retired[figure] ?? 0);
  return Object.fromEntries(Object.entries(figures).map(([value, figure]) => [value, sum(figure)]));
}

/** How long a scrape waits for the queue; it must not delay the other metrics. */
const QUEUE_WAIT_MS = 2_000;

/** Reads the queue's figures; none when it can't be reached or hangs. */
async function ofQueue(
  figures: (queue: ObservedQueue) => Record<string, number>,
): Promise<Record<string, number>> {
  const [first] = queues;
  const late = AbortSignal.timeout(QUEUE_WAIT_MS);
  const queue = first && (await abandonOnAbort(first(), late).catch(() => undefined));
  return queue === undefined ? {} : figures(queue);
}
