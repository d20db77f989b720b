/**
 * Measures programs that are written to exhaust the compiler: how long each check takes, for how long at most the host could
 * do nothing else meanwhile, and what is found. Prints JSON; times in milliseconds.
 */
import { readdirSync, readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { HOSTILE_PROGRAMS } from "../fixtures/hostile-programs.ts";
import { createTypeChecker } from "../src/index.ts";

const TIMEOUT_MS = 3_000;
const checker = createTypeChecker({ timeoutMs: TIMEOUT_MS });
const rows = [];
for (const [program, code] of Object.entries(HOSTILE_PROGRAMS)) {
  // A compiler that runs, and code of the host that has run before.
  await checker.check({ code: `export default ${rows.length} + missing;`, tools: [] });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const started = performance.now();
  const findings = await checker.check({ code, tools: [] });
  const ms = Math.round(performance.now() - started);
  // The delay before the check was done counts too.
  await new Promise((resolve) => setTimeout(resolve, 5));
  delay.disable();
  const [first] = findings;
  const found = first === undefined ? "nothing" : `${first.rule}: ${first.message.slice(0, 70)}`;
  rows.push({ program, ms, blockedMs: Math.round(delay.max / 1e6), compilerMb: memoryOfChild(), found });
}
await checker.dispose();
process.stdout.write(`${JSON.stringify(rows, null, 1)}\n`);

/** The most memory that the compiler has had, in MiB. On Linux only, and while it runs. */
function memoryOfChild(): number | undefined {
  try {
    const pids = readdirSync("/proc/self/task").flatMap((task) =>
      readFileSync(`/proc/self/task/${task}/children`, "utf8").split(" ").filter(Boolean),
    );
    const peak = /^VmHWM:\s*(\d+)/mu.exec(readFileSync(`/proc/${pids[0]}/status`, "utf8"))?.[1];
    return Math.round(Number(peak) / 1024);
  } catch {
    return undefined;
  }
}
