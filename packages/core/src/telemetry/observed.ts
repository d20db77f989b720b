import type { SandboxStats } from "../index.ts";
import type { Meter } from "@opentelemetry/api";

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
export function observeGauges(meter: Meter): void {
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
