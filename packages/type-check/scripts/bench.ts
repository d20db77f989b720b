/**
 * How long a check takes: from nothing to the first answer, warm with other code each time, and for code that was
 * checked before. Prints JSON; times in milliseconds.
 */
import path from "node:path";
import { createTypeChecker } from "../src/index.ts";

const ROUNDS = 60;
const root = path.resolve(import.meta.dirname, "../../..");

const program = (
  round: number,
  field: string,
): string => `import { add } from "./servers/calculator/index.ts";
import { get_weather } from "./servers/weather/index.ts";

const cities = ["Oslo", "Rome", "Cairo"];
const weather = await Promise.all(cities.map((location) => get_weather({ location })));
const warmest = weather.reduce((best, one) => (one.${field} > best.${field} ? one : best));
export default { warmest: warmest.location, sum: await add({ a: ${round}, b: 3 }) };
`;

async function time(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Number((sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(2));
}

async function times(code: (round: number) => string): Promise<{ p50: number; p95: number }> {
  const all: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    all.push(await time(() => checker.check({ code: code(round), tools: [] })));
  }
  return { p50: percentile(all, 0.5), p95: percentile(all, 0.95) };
}

const started = performance.now();
const checker = createTypeChecker({ serversDir: path.join(root, "servers") });
await checker.check({ code: program(0, "temperature"), tools: [] });
const cold = Number((performance.now() - started).toFixed(0));
const right = await times((round) => program(round, "temperature"));
const wrong = await times((round) => program(round, "temprature"));
const again = await times(() => program(1, "temperature"));
await checker.dispose();
process.stdout.write(`${JSON.stringify({ cold, right, wrong, again }, null, 2)}\n`);
