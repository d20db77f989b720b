/**
 * How long a check takes: in a new process, from its start to the first answer; with a compiler that runs, for other code
 * each time, which is right or wrong; and for code that was checked before. And what it costs besides: the memory of the
 * compiler, and the processor time of the host. Prints JSON; times in milliseconds, memory in MiB.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { createTypeChecker } from "../src/index.ts";

const ROUNDS = 200;
const NEW_PROCESSES = 9;
const root = path.resolve(import.meta.dirname, "../../..");
const serversDir = path.join(root, "servers");

const program = (
  round: number,
  field: string,
): string => `import { add } from "./servers/calculator/index.ts";
import { get_weather } from "./servers/weather/index.ts";

const cities = ["Oslo", "Rome", "Cairo"];
const weather = await Promise.all(cities.map((location) => get_weather({ location })));
const warmest = weather.reduce((best, one) => (one.${field} > best.${field} ? one : best));
return { warmest: warmest.location, sum: await add({ a: ${round}, b: 3 }) };
`;

async function time(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return rounded(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
}

function rounded(value: number): number {
  return Number(value.toFixed(2));
}

interface Times {
  p50: number;
  p95: number;
  /** Processor time of the host, on average. */
  host: number;
}

async function times(code: (round: number) => string): Promise<Times> {
  const all: number[] = [];
  const before = process.cpuUsage();
  for (let round = 1; round <= ROUNDS; round += 1) {
    all.push(await time(() => checker.check({ code: code(round), tools: [] })));
  }
  const { user, system } = process.cpuUsage(before);
  const host = rounded((user + system) / 1_000 / ROUNDS);
  return { p50: percentile(all, 0.5), p95: percentile(all, 0.95), host };
}

/** Times new processes of Node with the built package, from their start to where a script is done. */
function newProcess(script: string): number {
  const all = Array.from({ length: NEW_PROCESSES }, () => {
    const code = `${script}\nconsole.log(performance.now());`;
    const options = { cwd: path.join(import.meta.dirname, ".."), encoding: "utf8" } as const;
    return Number(execFileSync(process.execPath, ["--input-type=module", "--eval", code], options));
  });
  return percentile(all, 0.5);
}

/** The memory of the compiler. On Linux only. */
function memoryOfCompiler(): number | undefined {
  if (process.platform !== "linux") return undefined;
  const [pid] = readdirSync("/proc/self/task").flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, "utf8").split(" ").filter(Boolean),
  );
  const resident = /^VmRSS:\s*(\d+)/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(resident) / 1024);
}

const node = newProcess("");
const first = newProcess(`const { createTypeChecker } = await import("@cem/type-check");
const checker = createTypeChecker({ serversDir: ${JSON.stringify(serversDir)} });
await checker.check({ code: ${JSON.stringify(program(0, "temperature"))}, tools: [] });`);
const checker = createTypeChecker({ serversDir });
await checker.check({ code: program(0, "temperature"), tools: [] });
const memoryAtFirst = memoryOfCompiler();
const right = await times((round) => program(round, "temperature"));
const wrong = await times((round) => program(round, "temprature"));
const again = await times(() => program(1, "temperature"));
const memory = { atFirst: memoryAtFirst, after: memoryOfCompiler() };
await checker.dispose();
const newProcesses = { node, first, ratio: rounded(first / node) };
process.stdout.write(`${JSON.stringify({ newProcesses, right, wrong, again, memory }, null, 2)}\n`);
