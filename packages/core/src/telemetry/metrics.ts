import type { Counter, Histogram, Meter, MeterProvider } from "@opentelemetry/api";
import { registeredApi, SCOPE } from "./tracing.ts";
import type { SandboxStats } from "../index.ts";

/** Durations, in seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** The instruments by provider: an SDK may be set up after the first import. */
const made = new WeakMap<MeterProvider, Instruments>();

/** Counts and measures. */
interface Instruments {
  runs: Pick<Counter, "add">;
  runDuration: Pick<Histogram, "record">;
  stageDuration: Pick<Histogram, "record">;
  refusals: Pick<Counter, "add">;
  toolCalls: Pick<Counter, "add">;
  tokensKeptOut: Pick<Counter, "add">;
  serverOperation: Pick<Histogram, "record">;
  clientOperation: Pick<Histogram, "record">;
  queueWait: Pick<Histogram, "record">;
}

const NONE = { add() {}, record() {} };
const NO_INSTRUMENTS: Instruments = {
  runs: NONE,
  runDuration: NONE,
  stageDuration: NONE,
  refusals: NONE,
  toolCalls: NONE,
  tokensKeptOut: NONE,
  serverOperation: NONE,
  clientOperation: NONE,
  queueWait: NONE,
};

/** Counters and histograms of the project. No attribute has a value that clients or code choose. */
export function instruments(): Instruments {
  const api = registeredApi();
  if (api === undefined) return NO_INSTRUMENTS;
  const provider = api.metrics.getMeterProvider();
  const known = made.get(provider);
  if (known !== undefined) return known;
  const meter = provider.getMeter(SCOPE);
  const created = makeInstruments(meter);
  observeGauges(meter);
  made.set(provider, created);
  return created;
}

function makeInstruments(meter: Meter): Instruments {
  const seconds = (name: string, description: string) =>
    meter.createHistogram(name, {
      description,
      unit: "s",
      advice: { explicitBucketBoundaries: [...BUCKETS] },
    });
  return {
    runs: meter.createCounter("cem.runs", {
      description: "Runs that ended, by kind, status and isolation.",
    }),
    runDuration: seconds("cem.run.duration", "How long runs took, waiting for a guest included."),
    stageDuration: seconds("cem.stage.duration", "How long the stages of runs took."),
    refusals: meter.createCounter("cem.refusals", {
      description:
        "Runs that ended without success, by the error's code: limits, quotas and reviews among them.",
    }),
    toolCalls: meter.createCounter("cem.tool_calls", { description: "Calls that code made to tools." }),
    tokensKeptOut: meter.createCounter("cem.tokens_kept_out", {
      description: "Tokens that a model would have read without the sandbox.",
    }),
    serverOperation: seconds("mcp.server.operation.duration", "How long requests of MCP clients took."),
    clientOperation: seconds("mcp.client.operation.duration", "How long requests to MCP servers took."),
    queueWait: seconds("cem.queue.wait.duration", "How long runs waited in the queue for a worker."),
  };
}

/** How many runs are where in the queue. */
interface ObservedQueue {
  waiting: number;
  running: number;
  dead: number;
}

/** Values by the value of the attribute that distinguishes them. */
type Read = () => Record<string, number> | Promise<Record<string, number>>;

const sandboxes = new Set<() => SandboxStats | undefined>();
/** Counts of sandboxes that are no more: a counter must not fall. */
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

/** Is asked when metrics are exported. @returns a function that ends the observation. */
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

/** Adds what is read when metrics are exported. */
function observeGauges(meter: Meter): void {
  const add = (kind: "Gauge" | "Counter", name: string, description: string, attribute: string, read: Read) =>
    meter[`createObservable${kind}`](name, { description }).addCallback(async (result) => {
      for (const [value, figure] of Object.entries(await read()))
        result.observe(figure, { [attribute]: value });
    });
  add(
    "Gauge",
    "cem.guests",
    "Guests there are: on standby, kept for a session, taken by a run.",
    "state",
    () => ({
      standby: sum("standby"),
      kept: sum("kept"),
      taken: sum("taken"),
    }),
  );
  add("Gauge", "cem.sandbox.runs", "Runs that have a guest, and runs that wait for one.", "state", () => ({
    running: sum("running"),
    waiting: sum("waiting"),
  }));
  add("Counter", "cem.guest.takes", "Guests that runs got, by where from.", "from", () => ({
    pool: sum("hits"),
    session: sum("reused"),
    new: sum("misses"),
  }));
  add("Counter", "cem.guest.changes", "Guests by what became of them.", "what", () => ({
    started: sum("started"),
    lost: sum("lost"),
    discarded: sum("discarded"),
  }));
  add("Gauge", "cem.customers", "Customers whose agents are open in this process.", "state", () =>
    customers.size === 0 ? {} : { open: [...customers].reduce((total, read) => total + read(), 0) },
  );
  add(
    "Gauge",
    "cem.queue.runs",
    "Runs in the queue. Every process tells the same number.",
    "state",
    readQueues,
  );
}

function sum(figure: keyof SandboxStats): number {
  return [...sandboxes].reduce((total, read) => total + (read()?.[figure] ?? 0), retired[figure] ?? 0);
}

/** A queue that can't be reached has no numbers. */
async function readQueues(): Promise<Record<string, number>> {
  const [first] = queues;
  const counts = await first?.().catch(() => undefined);
  return counts === undefined ? {} : { waiting: counts.waiting, running: counts.running, error: counts.dead };
}
