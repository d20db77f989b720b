import type { Agent, SandboxStats } from "@cem/core";
import { Counter, Gauge } from "prom-client";
import type { Registry } from "prom-client";

/** Members of the statistics by the value of the label that distinguishes them. */
type Figures = Readonly<Record<string, keyof SandboxStats>>;

/** Adds the statistics of the agent's sandbox, read at each scrape. There are none before the first run. */
export function measureSandbox(agent: Agent, registry: Registry): void {
  const add = (
    Kind: typeof Gauge<string> | typeof Counter<string>,
    name: string,
    help: string,
    label: string,
    figures: Figures,
  ): Gauge | Counter =>
    new Kind({
      name,
      help,
      labelNames: [label],
      registers: [registry],
      collect() {
        const stats = agent.sandboxStats?.();
        if (stats === undefined) return;
        this.reset();
        for (const [state, figure] of Object.entries(figures)) this.inc({ [label]: state }, stats[figure]);
      },
    });
  add(Gauge, "cem_sandbox_runs", "Runs that have a guest, and runs that wait for one.", "state", {
    running: "running",
    queued: "queued",
  });
  add(Gauge, "cem_guests", "Guests there are, by state (standby, kept, taken).", "state", {
    standby: "standby",
    kept: "kept",
    taken: "taken",
  });
  add(Counter, "cem_guest_takes_total", "Guests that runs got, by where from (pool, session, new).", "from", {
    pool: "hits",
    session: "reused",
    new: "misses",
  });
  add(Counter, "cem_guests_total", "Guests by what became of them (started, lost, discarded).", "what", {
    started: "started",
    lost: "lost",
    discarded: "discarded",
  });
}
