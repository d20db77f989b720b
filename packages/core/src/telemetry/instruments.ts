import type { Counter, Histogram, Meter, MeterProvider } from "@opentelemetry/api";
import { registeredApi } from "./api.ts";
import { observeGauges } from "./observed.ts";
import { SCOPE } from "./tracing.ts";

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
