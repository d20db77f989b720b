import { isolatedVmRun } from "./isolated-vm.ts";
import { rounded, throughput } from "./measure.ts";
import type { Table } from "./table.ts";
import { echo, openSandbox, withFolder, writeSampleServer } from "./workspace.ts";

const AT_ONCE = 8;
const STANDBY = 3;
const ROUNDS = 3;
const WARM_UP_SECONDS = 2;
const TOOL_FILE = 'import { add } from "./servers/math/index.ts";\nexport default await add({ a: 5, b: 3 });';
const HOST_TOOL =
  'import { callTool } from "cem:client";\nexport default await callTool("math", "echo", { a: 5, b: 3 });';

type Reuse = "none" | "session";

/** Runs for callers that each have a session of their own, whose runs come one after another. */
async function withRuns<T>(
  reuse: Reuse,
  standby: number,
  work: (run: (code: string) => () => Promise<void>) => Promise<T>,
): Promise<T> {
  return withFolder(async (folder) => {
    await writeSampleServer(folder);
    const sandbox = await openSandbox(folder, standby, reuse);
    const idle = Array.from({ length: AT_ONCE }, (_, index) => `session ${index}`);
    try {
      return await work((code) => async () => {
        const session = idle.pop() as string;
        const outcome = await sandbox.run({ code, session, invoker: echo });
        idle.push(session);
        if (outcome.status !== "completed") throw new Error(`A run ended as ${JSON.stringify(outcome)}`);
      });
    } finally {
      await sandbox.dispose();
    }
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/**
 * Runs per second with eight at once and one tool call each: a process for each run, started for it or beforehand, a guest
 * for each session's runs, and isolated-vm in this process where a folder has it installed. They take turns.
 */
export async function measureReuse(seconds: number, isolatedVmFolder?: string): Promise<Table> {
  const peer = isolatedVmFolder === undefined ? undefined : isolatedVmRun(isolatedVmFolder);
  return withRuns("none", 0, (unpooled) =>
    withRuns("none", STANDBY, (oneShot) =>
      withRuns("session", STANDBY, async (inSession) => {
        const subjects: [string, () => Promise<void>][] = [
          ["a process for each run, none ready, a tool's file", unpooled(TOOL_FILE)],
          ["a process for each run, a tool's file", oneShot(TOOL_FILE)],
          ["a process for each run, a tool of the host", oneShot(HOST_TOOL)],
          ["a guest for each session, a tool's file", inSession(TOOL_FILE)],
          ["a guest for each session, a tool of the host", inSession(HOST_TOOL)],
        ];
        if (peer !== undefined) subjects.push(["isolated-vm in this process, a tool of the host", peer]);
        const rates = new Map<string, number[]>(subjects.map(([name]) => [name, []]));
        for (let round = 0; round <= ROUNDS; round += 1) {
          for (const [name, run] of subjects) {
            const rate = await throughput(run, AT_ONCE, round === 0 ? WARM_UP_SECONDS : seconds);
            if (round > 0) rates.get(name)?.push(rate);
          }
        }
        const base = median(rates.get("a process for each run, a tool of the host") ?? []);
        return {
          title: `Runs per second, ${AT_ONCE} at once, one tool call each`,
          columns: ["", "median", "least", "most", "of a process each"],
          rows: [...rates].map(([name, values]) => [
            name,
            rounded(median(values)),
            rounded(Math.min(...values)),
            rounded(Math.max(...values)),
            rounded(median(values) / base),
          ]),
        };
      }),
    ),
  );
}
