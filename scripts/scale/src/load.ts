import { randomExponential, randomGeometric, randomLcg, randomLogNormal, randomUniform } from "d3-random";
import { ASSUMED } from "./scenario.ts";
import type { CustomerClass, Scenario } from "./scenario.ts";

export const FLOODING = -1;

const MS_PER_SECOND = 1_000;
const HEAVY_PART = 0.01;
const REGULAR_PART = 0.1;

/** Random numbers of a scenario. Each kind has a source of its own, so that one more run does not change all others. */
export function createLoad({ seed, customers, runsPerSecond }: Scenario) {
  let kinds = 0;
  const source = (): (() => number) => randomLcg((seed + (kinds += 1) * 0.618_033_988) % 1);
  const perMs = runsPerSecond / ASSUMED.runsPerSession / ASSUMED.sessionsPerBurst / MS_PER_SECOND;
  const cumulative = zipf(customers);
  const uniform = randomUniform.source(source())(0, 1);
  return {
    burstGap: randomExponential.source(source())(perMs),
    burstSize: randomGeometric.source(source())(1 / ASSUMED.sessionsPerBurst),
    sessionRuns: randomGeometric.source(source())(1 / ASSUMED.runsPerSession),
    thinkMs: randomExponential.source(source())(1 / ASSUMED.thinkMs),
    toolMs: randomLogNormal.source(source())(Math.log(ASSUMED.toolMedianMs), ASSUMED.toolSigma),
    failure: randomUniform.source(source())(0, 1),
    customer: (): number => rankOf(uniform(), cumulative),
  };
}

/** The customer of rank r is as busy as 1/r. */
function zipf(customers: number): Float64Array {
  const cumulative = new Float64Array(customers);
  let sum = 0;
  for (let rank = 0; rank < customers; rank += 1) cumulative[rank] = sum += 1 / (rank + 1);
  return cumulative.map((value) => value / sum);
}

function rankOf(part: number, cumulative: Float64Array): number {
  let [low, high] = [0, cumulative.length - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((cumulative[middle] ?? 1) < part) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function classOf(customer: number, customers: number): CustomerClass {
  if (customer === FLOODING) return "flooding";
  if (customer < customers * HEAVY_PART) return "heavy";
  return customer < customers * REGULAR_PART ? "regular" : "light";
}
