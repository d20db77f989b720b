import type { Measured } from "./measured.ts";
import { ASSUMED, CLASSES } from "./scenario.ts";
import { KEPT, LOAD, rateFor, SLOTS } from "./scenarios.ts";
import type { Results } from "./scenarios.ts";
import { VALIDATION } from "./validation.ts";

const MS_PER_SECOND = 1_000;
const PERCENT = 100;

const whole = (value: number): string => Math.round(value).toLocaleString("en");
const short = (value: number): string => (value < 10 ? String(Math.round(value * 10) / 10) : whole(value));
const yes = (value: boolean): string => (value ? "yes" : "no");

/** A table as the formatter aligns it. */
function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heading.map((name, column) =>
    Math.max(3, name.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return [line(heading), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

/** `docs/scale.md`. Every number comes from what was measured or simulated. */
export function renderPage(measured: Measured, results: Results): string {
  const { warm, cold, idleRedisCpuMsPerSecond, guestMiB, workerMiB, warmMs, coldMs, machine, shared } =
    measured;
  const ceiling = MS_PER_SECOND / warm.redisCpuMs;
  const full = rateFor(1, SLOTS, 1, measured);
  const largest = results.sizes.at(-2);
  return `# Scale

Where many machines saturate, simulated: a discrete-event simulation of \`cem worker\` on Redis, with 10 to 1,000
workers and 100,000 customers, calibrated on what was measured on one machine. \`npm run scale\` makes this page and its plots
anew, always the same; \`npm run scale:calibrate\` measures on your machine first. Nobody has run a thousand workers: what is
below says where to look first, not what you will get.

## In short

- **Redis is what more workers don't help against.** A run takes ${short(warm.redisCpuMs)} ms of its one processor (${warm.redisCommands} commands, those inside scripts
  counted): one Redis carries ${whole(ceiling)} runs a second, or ${whole(ceiling / full)} workers of four slots that are all busy with the runs assumed here.
  Beyond that, give parts of your customers a queue and a Redis of their own (\`queue.url\`). A thousand workers
  that only wait take ${whole(idleRedisCpuMsPerSecond * PERCENT)} % of it.
- **Before that, cold starts**: a session's first run takes ${whole(cold.workerCpuMs)} ms of a worker's processor, a later one that finds its guest
  ${short(warm.workerCpuMs)}. A run that goes to any worker finds hardly any guest where there are many workers. Handed to the worker that has it, as
  \`cem worker\` does, it finds it as long as that worker keeps enough of them: with two in five slots busy, some 64
  (\`optimizations.sandbox_kept_guests\`, 16 as it comes).
- **Too few workers fall into a trap**: where runs wait, they start wherever there is a slot, cold; cold runs fill the processors, and more
  wait. A surge that is over leaves the backlog. Leave half of the slots free, or scale up early.
- **One customer's flood neither waits before the others nor fills the queue**: turns see to the first, and of \`queue.max_waiting\` a
  customer gets as much as it leaves for others. Many who flood together fill it, and then everybody is refused.
- **Autoscale on the runs that wait and run.** Those that wait alone are none as soon as there are workers enough, so they come and go.

## Measured

On ${machine}. Processor times, counts and memory hardly depend on what else the machine does; on a busy one
they are the most that a run takes, since every message finds Redis asleep.

${table(
  ["a run of `return 6 * 7;`", "session has a guest", "session's first"],
  [
    ["worker and guest, ms of a processor", short(warm.workerCpuMs), short(cold.workerCpuMs)],
    ["the server that waits, ms of a processor", short(warm.hostCpuMs), short(cold.hostCpuMs)],
    ["Redis, ms of a processor", short(warm.redisCpuMs), short(cold.redisCpuMs)],
    ["commands of Redis", String(warm.redisCommands), String(cold.redisCommands)],
    ["call to answer, ms (median)", short(warmMs), short(coldMs)],
  ],
)}

Where the files of workspaces are shared in PostgreSQL (\`store.files\`), a run whose session's log is all that changed takes ${short(shared.workerCpuMs)} ms of
the worker's processor, one at a time, and ${short(shared.postgresCpuMs)} ms of PostgreSQL's in ${shared.postgresCommits} transactions, with its part of the log, which follows the
answers once a second: a processor of PostgreSQL carries ${whole(MS_PER_SECOND / shared.postgresCpuMs)} such runs a second. Files that runs change go through it before
the answer, unless they are in S3.

A worker takes ${whole(workerMiB)} MiB, each guest that it keeps ${whole(guestMiB)} MiB (proportional share).

## Held against reality

The same arrivals (${VALIDATION.seconds} s, ${PERCENT * VALIDATION.load} % of the slots busy, runs of ${VALIDATION.holdMs[0]} to ${VALIDATION.holdMs[1]} ms) were executed by real workers of ${VALIDATION.slots} slots and by the simulation.
Milliseconds beyond what a run does; the error is that of the simulation.

${table(
  ["workers", "runs", "mean, real", "simulated", "error", "p95, real", "simulated", "error"],
  results.validation.map(({ workers, simulated, observed }) => [
    String(workers),
    String(simulated.count),
    whole(observed?.mean ?? 0),
    whole(simulated.mean),
    errorOf(simulated.mean, observed?.mean),
    whole(observed?.p95 ?? 0),
    whole(simulated.p95),
    errorOf(simulated.p95, observed?.p95),
  ]),
)}

The simulation is too kind: it knows no scheduler, no garbage collector and no neighbours on the machine, which cost every run some
milliseconds. More than a few machines were never measured.

## How many workers

Load for ${PERCENT * LOAD} % of all slots (sessions that begin in the first minute carry on later, so somewhat less), four slots and a
processor for each worker, ${results.guests[0]?.keptGuests} guests kept. Waits are those until a worker begins, of light customers.

![Runs a second by workers](./public/scale/sizes.svg)

${table(
  [
    "workers",
    "to their guests",
    "offered, runs/s",
    "carried, runs/s",
    "warm",
    "slots busy",
    "Redis busy",
    "wait p50, ms",
    "p95",
    "p99",
  ],
  results.sizes.map((size) => [
    whole(size.workers),
    yes(size.isRouted),
    whole(size.offered),
    whole(size.runsPerSecond),
    `${short(size.warmPercent)} %`,
    `${short(size.slotsBusyPercent)} %`,
    `${short(size.redisBusyPercent)} %`,
    short(size.waits.light.p50),
    short(size.waits.light.p95),
    short(size.waits.light.p99),
  ]),
)}

${largest === undefined ? "" : `With ${whole(largest.workers)} workers, Redis is full, and carries ${whole(largest.runsPerSecond)} of ${whole(largest.offered)} runs a second. `}Slots are busy then
because their runs wait for Redis.

## Guests

50 workers, at that load and at twice as much. A run beyond its tools: waiting, starting, computing. One run in ${ASSUMED.runsPerSession} is its session's first
and can't be warm. At the higher load all of them are in the trap: they begin with no guests, and never get to keep any.

![Warm runs by guests kept](./public/scale/guests.svg)

${table(
  [
    "load",
    "guests kept by a worker",
    "their memory, MiB",
    "to their guests",
    "warm",
    "carried, runs/s",
    "a run beyond its tools p50, ms",
    "p95",
  ],
  results.guests.map((one) => [
    `${PERCENT * one.load} %`,
    String(one.keptGuests),
    whole(one.keptGuests * guestMiB),
    yes(one.isRouted),
    `${short(one.warmPercent)} %`,
    whole(one.runsPerSecond),
    short(one.overhead.p50),
    short(one.overhead.p95),
  ]),
)}

## Customers and a flood

60 workers that keep ${KEPT} guests each, and for a minute one customer with ${ASSUMED.floodSessions} sessions who puts in more than is free. Milliseconds
until a worker begins, and the part that was refused because the queue was full.

![Waits of customers](./public/scale/floods.svg)

${table(
  ["", "class", "p50", "p95", "p99", "refused"],
  results.floods.flatMap(({ name, waits, refusedPercent }) =>
    CLASSES.filter((kind) => waits[kind].count > 0).map((kind) => [
      name,
      kind,
      short(waits[kind].p50),
      short(waits[kind].p95),
      short(waits[kind].p99),
      `${short(refusedPercent[kind])} %`,
    ]),
  ),
)}

Light are nine tenths of the customers, heavy the busiest hundredth, who share ${whole(heavyShare())} % of all runs. A heavy customer is held to its share when there is too little for all.

## Workers that die

50 workers that keep ${KEPT} guests each, nine minutes. A worker's runs are given to another after 8 to 9.6 s; ${PERCENT * ASSUMED.unrepeatable} % of them had called what can't be repeated.

${table(
  [
    "deaths of a worker in an hour",
    "runs",
    "given back",
    "interrupted",
    "a run beyond its tools p50, ms",
    "p95",
    "p99",
  ],
  results.deaths.map((one) => [
    String(one.deathsPerWorkerHour),
    whole(one.runs),
    whole(one.lost - one.interrupted),
    whole(one.interrupted),
    short(one.overhead.p50),
    short(one.overhead.p95),
    short(one.overhead.p99),
  ]),
)}

## Autoscaling

Four times the load between minutes 4 and 9 of 20. The rule is looked at every ${ASSUMED.scaleEveryMs / MS_PER_SECOND} s, a worker starts within ${ASSUMED.startMs / MS_PER_SECOND} s, and none ends before
${ASSUMED.scaleDownAfterMs / MS_PER_SECOND / 60} minutes of less to do, as in Kubernetes.

![Workers over time](./public/scale/surges.svg)

${table(
  ["", "worker hours", "light p50, ms", "p95", "p99", "heavy p95", "refused"],
  results.surges.map(({ name, workerHours, waits, refusedPercent }) => [
    name,
    String(workerHours),
    short(waits.light.p50),
    short(waits.light.p95),
    short(waits.light.p99),
    short(waits.heavy.p95),
    `${short(refusedPercent.light)} %`,
  ]),
)}

Without it ${whole(results.surges[0]?.course.at(-1)?.waiting ?? 0)} runs still wait eleven minutes after the surge: the trap.

## Assumed

- Sessions arrive at random, in bursts of ${ASSUMED.sessionsPerBurst} on average of one customer; the customer of rank r is as busy as 1/r. A session has ${ASSUMED.runsPerSession} runs on
  average, with ${ASSUMED.thinkMs / MS_PER_SECOND} s between an answer and the next run (exponential). Who is refused gives the session up.
- A run computes first, then waits for its tools: log-normal, median ${ASSUMED.toolMedianMs} ms, sigma ${ASSUMED.toolSigma}. Runs that only compute fill a worker's
  processor at ${whole(MS_PER_SECOND / warm.workerCpuMs)} runs a second, and ${whole(ceiling / (MS_PER_SECOND / warm.workerCpuMs))} such workers fill Redis.
- Redis serves one after another; a run visits it three times, for a third of its measured cost each, the same however many
  wait. The network takes no time, servers have processors enough, and PostgreSQL, S3, models and MCP servers don't saturate.
- Turns are those of \`@cem/queue\` (a test holds them against the real ones in Redis). All customers share one agent of each worker: what opening
  a customer's own costs is left out.
- A run that is sent to its guest goes there when that worker has a slot free and nothing else waits, else to the worker that has waited longest.
  That a worker with a free slot takes one of the next 16 whose guest it has before the first is left out, so the trap is worse here than it is.
`;
}

/** Per cent of all runs that the busiest hundredth of the customers has. */
function heavyShare(): number {
  const harmonic = (count: number): number => Math.log(count) + 0.5772;
  return (PERCENT * harmonic(1_000)) / harmonic(100_000);
}

function errorOf(simulated: number, real = Number.NaN): string {
  const percent = Math.round((PERCENT * (simulated - real)) / real);
  return `${percent > 0 ? "+" : ""}${percent} %`;
}
