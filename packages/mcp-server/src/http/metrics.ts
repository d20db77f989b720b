import type { Agent } from "@cem/core";
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { RunListener, RunRegistry } from "../runs/run-registry.ts";

const MS_PER_SECOND = 1_000;
const DURATION_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Prometheus metrics of a server. Labels have few values, none of them chosen by clients or code. */
export interface ServerMetrics {
  readonly registry: Registry;
  /** Counts one HTTP request by its status code. */
  countRequest(status: number): void;
}

export function createMetrics(
  { agent, runs }: { agent: Agent; runs: Pick<RunRegistry, "active" | "kept" | "onFinished"> },
  sessions: () => number,
): ServerMetrics {
  const registry = processRegistry();
  const requests = new Counter({
    name: "cem_http_requests_total",
    help: "HTTP requests by status.",
    labelNames: ["status"],
    registers: [registry],
  });
  const count = createAdder(registry, () => ({ active: runs.active, kept: runs.kept, open: sessions() }));
  count(Gauge, "cem_runs_active", "Runs under way, those waiting for a guest among them.", "active");
  count(Gauge, "cem_runs_kept", "Runs that outlasted their call and can still be asked for.", "kept");
  count(Gauge, "cem_sessions", "Sessions of the older protocol, and open SSE streams.", "open");
  // There are no statistics of the sandbox before the first run.
  const add = createAdder(registry, () => agent.sandboxStats?.());
  add(Gauge, "cem_sandbox_runs", "Runs that have a guest, and runs that wait for one.", {
    state: { running: "running", waiting: "waiting" },
  });
  add(Gauge, "cem_guests", "Guests there are, by state (standby, kept, taken).", {
    state: { standby: "standby", kept: "kept", taken: "taken" },
  });
  add(Counter, "cem_guest_takes_total", "Guests that runs got, by where from (pool, session, new).", {
    from: { pool: "hits", session: "reused", new: "misses" },
  });
  add(Counter, "cem_guests_total", "Guests by what became of them (started, lost, discarded).", {
    what: { started: "started", lost: "lost", discarded: "discarded" },
  });
  runs.onFinished(measureRuns(registry));
  return { registry, countRequest: (status) => requests.inc({ status: String(status) }) };
}

/** State of the queue that workers share. */
export interface QueueFigures {
  waiting: number;
  running: number;
  dead: number;
  workers: number;
  /** Since when the run that has waited longest waits; 0 where none waits. */
  oldestWaitMs: number;
}

/** Prometheus metrics of a worker. */
export interface WorkerMetrics {
  readonly registry: Registry;
  readonly onFinished: RunListener;
}

/** @param queue - Is read at each scrape. A queue that can't be reached has no figures. */
export function createWorkerMetrics(queue: () => Promise<QueueFigures>): WorkerMetrics {
  const registry = processRegistry();
  const add = createAdder(registry, async () => {
    const { oldestWaitMs, ...figures } = await queue();
    return { ...figures, oldestWaitSeconds: oldestWaitMs / MS_PER_SECOND };
  });
  add(Gauge, "cem_queue_runs", "Runs in the queue. Every worker reports the same number.", {
    state: { waiting: "waiting", running: "running", error: "dead" },
  });
  add(Gauge, "cem_queue_workers", "Workers that take runs from the queue.", {
    state: { connected: "workers" },
  });
  add(Gauge, "cem_queue_oldest_wait_seconds", "How long the oldest run in the queue has waited.", {
    state: { waiting: "oldestWaitSeconds" },
  });
  return { registry, onFinished: measureRuns(registry) };
}

function processRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Adds metrics of figures that are read at each scrape. What can't be read has no metrics. */
function createAdder<Figure extends string>(
  registry: Registry,
  read: () => Readonly<Record<Figure, number>> | undefined | Promise<Readonly<Record<Figure, number>>>,
) {
  return (
    Kind: typeof Gauge<string> | typeof Counter<string>,
    name: string,
    help: string,
    /** The figure, or the metric's label with the figure of each of its values. */
    shown: Figure | Readonly<Record<string, Readonly<Record<string, Figure>>>>,
  ): Gauge | Counter => {
    const [label, figures] = (typeof shown === "string" ? undefined : Object.entries(shown)[0]) ?? [];
    return new Kind({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
      async collect() {
        const found = await Promise.resolve(read()).catch(() => undefined);
        this.reset();
        if (found === undefined) return;
        if (typeof shown === "string") return this.inc(found[shown]);
        for (const [value, figure] of Object.entries(figures ?? {}))
          this.inc({ [label ?? ""]: value }, found[figure]);
      },
    });
  };
}

/** Adds metrics of runs. @returns a function that takes in each run that ended */
function measureRuns(registry: Registry): RunListener {
  const registers = [registry];
  const ended = new Counter({
    name: "cem_runs_total",
    help: "Runs that ended, by kind (task, code) and status (success, error, refused, timeout, failed).",
    labelNames: ["kind", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "cem_run_duration_seconds",
    help: "How long runs took, waiting for a guest included.",
    labelNames: ["kind"],
    buckets: DURATION_BUCKETS_SECONDS,
    registers,
  });
  const refusals = new Counter({
    name: "cem_refusals_total",
    help: "Tasks and code that were refused, by the error's code.",
    labelNames: ["code"],
    registers,
  });
  const calls = new Counter({
    name: "cem_tool_calls_total",
    help: "Calls that code made to tools.",
    labelNames: ["ok"],
    registers,
  });
  return ({ kind, ms, status, result }) => {
    ended.inc({ kind, status });
    durations.observe({ kind }, ms / MS_PER_SECOND);
    if (result === undefined) return;
    if (result.status === "refused") refusals.inc({ code: result.error?.code ?? "UNKNOWN" });
    for (const { ok } of result.toolCalls) calls.inc({ ok: String(ok) });
  };
}

/** The answer to a scrape. */
export async function answerMetrics(registry: Registry): Promise<Response> {
  return new Response(await registry.metrics(), { headers: { "content-type": registry.contentType } });
}
