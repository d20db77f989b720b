import type { Measured } from "./measured.ts";
import { ASSUMED } from "./scenario.ts";
import type { Autoscaling, Scenario } from "./scenario.ts";
import { simulate } from "./simulate.ts";
import type { Outcome } from "./recorder.ts";
import { VALIDATION, validationTrace } from "./validation.ts";

const SIZES = [10, 30, 100, 300, 1_000] as const;
const MS_PER_SECOND = 1_000;
/** Part of all slots that the offered load keeps busy. */
export const LOAD = 0.4;
const HIGH_LOAD = 0.8;
export const KEPT = 128;
/** Runs that a worker executes at once. */
export const SLOTS = 4;

/** The mean of what a run waits for its tools. */
const TOOL_MEAN_MS = ASSUMED.toolMedianMs * Math.exp(ASSUMED.toolSigma ** 2 / 2);

/** Runs a second that keep a part of all slots busy. */
export function rateFor(workers: number, slots: number, load: number, measured: Measured): number {
  return (workers * slots * load * MS_PER_SECOND) / (TOOL_MEAN_MS + measured.warm.workerCpuMs);
}

function scenarioOf(measured: Measured, own: Partial<Scenario> & { workers: number }, load = LOAD): Scenario {
  const slots = own.slots ?? SLOTS;
  return {
    slots,
    customers: 100_000,
    runsPerSecond: rateFor(own.workers, slots, load, measured),
    seconds: 150,
    settleSeconds: 60,
    seed: 0.42,
    warm: measured.warm,
    cold: measured.cold,
    idleRedisCpuMsPerSecond: measured.idleRedisCpuMsPerSecond,
    isFair: true,
    isRouted: true,
    maxWaiting: 10_000,
    keptGuests: 16,
    ...own,
  };
}

/** The real trace, simulated. */
export function validate(measured: Measured) {
  return VALIDATION.workers.map((workers) => {
    const trace = validationTrace(workers).map((run, session) => ({ ...run, session: session % 16 }));
    const own = {
      workers,
      slots: VALIDATION.slots,
      settleSeconds: 0,
      seconds: 1,
      cold: measured.warm,
      isFair: false,
    };
    const { overhead } = simulate({ ...scenarioOf(measured, own), isRouted: false }, trace);
    return {
      workers,
      simulated: overhead,
      observed: measured.observed.find((one) => one.workers === workers),
    };
  });
}

/** So many workers at the same load for each, with runs sent to their guests or not. */
export function sizeOf(measured: Measured, workers: number, isRouted: boolean): SizeOutcome {
  const scenario = scenarioOf(measured, { workers, isRouted, seconds: workers > 100 ? 90 : 150 });
  const outcome = simulate(scenario);
  return { workers, isRouted, offered: Math.round(scenario.runsPerSecond), ...brief(outcome) };
}

export type SizeOutcome = Omit<Outcome, "course"> & { workers: number; isRouted: boolean; offered: number };

function brief({ course: _course, ...outcome }: Outcome): Omit<Outcome, "course"> {
  return outcome;
}

/** Workers that keep more or fewer guests, with runs sent to their guests or not. */
function guests(measured: Measured) {
  const cases = [LOAD, HIGH_LOAD].flatMap((load) =>
    [16, 32, 64, KEPT].flatMap((keptGuests) =>
      [true, false].map((isRouted) => ({ load, keptGuests, isRouted })),
    ),
  );
  return cases.map(({ load, keptGuests, isRouted }) => {
    const scenario = scenarioOf(measured, { workers: 50, keptGuests, isRouted, seconds: 240 }, load);
    const { warmPercent, runsPerSecond, overhead } = simulate(scenario);
    return { load, keptGuests, isRouted, warmPercent, runsPerSecond, overhead };
  });
}

/** Workers, a customer who floods them, and all others. */
function floods(measured: Measured) {
  const flood = (runsPerSecond: number) => ({ fromSecond: 60, toSecond: 120, runsPerSecond });
  const cases: { name: string; own: Partial<Scenario> }[] = [
    { name: "nobody floods", own: {} },
    { name: "400 runs/s more, in turn", own: { flood: flood(400) } },
    { name: "400 runs/s more, first come first served", own: { flood: flood(400), isFair: false } },
    { name: "800 runs/s more, in turn", own: { flood: flood(800) } },
  ];
  return cases.map(({ name, own }) => {
    const { waits, refusedPercent } = simulate(
      scenarioOf(measured, { workers: 60, keptGuests: KEPT, seconds: 120, ...own }),
    );
    return { name, waits, refusedPercent };
  });
}

/** Workers that die again and again. */
function deaths(measured: Measured) {
  return [0, 1, 10].map((deathsPerWorkerHour) => {
    const outcome = simulate(
      scenarioOf(measured, { workers: 50, keptGuests: KEPT, seconds: 600, deathsPerWorkerHour }),
    );
    const { lost, interrupted, overhead, runsPerSecond, waits } = outcome;
    return { deathsPerWorkerHour, runs: Math.round(runsPerSecond * 540), lost, interrupted, overhead, waits };
  });
}

/** Four times the load for five minutes, with the rules by which an autoscaler can count. */
function surges(measured: Measured) {
  const rules: { name: string; autoscaling?: Autoscaling }[] = [
    { name: "20 workers, no autoscaling" },
    { name: "by runs that wait", autoscaling: { counts: "waiting", runsPerWorker: 4, least: 5, most: 60 } },
    {
      name: "by runs that wait and run",
      autoscaling: { counts: "waiting and running", runsPerWorker: 3, least: 5, most: 60 },
    },
  ];
  return rules.map(({ name, autoscaling }) => {
    const surge = { fromSecond: 240, toSecond: 540, times: 4 };
    const scenario = scenarioOf(
      measured,
      { workers: 20, keptGuests: KEPT, seconds: 1_200, settleSeconds: 60, autoscaling, surge },
      0.35,
    );
    const { course, waits, refusedPercent } = simulate(scenario);
    const workerHours = course.reduce((sum, { workers }) => sum + workers * 10, 0) / 3_600;
    return { name, workerHours: Math.round(workerHours * 10) / 10, waits, refusedPercent, course };
  });
}

/** All that the page tells. */
export function simulateAll(measured: Measured) {
  return {
    validation: validate(measured),
    sizes: SIZES.flatMap((workers) => [true, false].map((isRouted) => sizeOf(measured, workers, isRouted))),
    guests: guests(measured),
    floods: floods(measured),
    deaths: deaths(measured),
    surges: surges(measured),
  };
}

export type Results = ReturnType<typeof simulateAll>;
