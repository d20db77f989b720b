import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunRequest, ToolInvoker } from "@cem/core";
import type { GuestSandbox } from "@cem/sandbox";
import { describe, expect, it } from "vitest";
// For comparison only; the package knows nothing of the other sandbox.
import { createDenoSandboxProvider } from "../../sandbox-deno/src/index.ts";
import { descendants } from "./machine-processes.ts";
import { denoFile, makeProvider } from "./provider.ts";

const RUNS = 5;
const CALLS = 40;
/** Long enough for a guest that boots in the background, on the emulated machine's own clock. */
const BOOT_MS = 5_000;
const LIMITS = { memoryMb: 64, timeoutMs: 60_000 };
const CALL = `import { callTool } from "cem:client";\n`;
const invoker: ToolInvoker = {
  specificationVersion: "v1",
  invoke: async () => ({ ok: true, value: 1 }),
};

interface Measured {
  /** In milliseconds. */
  first: number;
  warm: number;
  later: number;
  call: number;
  /** Bytes that no other process shares, and its part of the shared ones. */
  standing: number;
}

function memoryOf(pids: readonly number[]): number {
  const sizes = pids.map((pid) => {
    try {
      return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
    } catch {
      return 0;
    }
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function measure(create: () => Promise<GuestSandbox>): Promise<Measured> {
  const before = new Set(descendants());
  const started = performance.now();
  const sandbox = await create();
  try {
    const timed = async (code: string, request: Partial<RunRequest> = {}): Promise<number> => {
      const from = performance.now();
      expect(await sandbox.run({ code, invoker, ...request })).toMatchObject({ status: "completed" });
      return performance.now() - from;
    };
    const trivial = "export default 1;";
    await timed(trivial);
    const first = performance.now() - started;
    // Machines that boot now stand in the pool until the next run.
    await sleep(BOOT_MS);
    const standing = memoryOf(descendants().filter((pid) => !before.has(pid)));
    const session = "measured";
    const warm = await timed(trivial, { session });
    const later: number[] = [];
    for (let run = 0; run < RUNS; run += 1) later.push(await timed(trivial, { session }));
    const calls = `${CALL}for (let i = 0; i < ${CALLS}; i++) await callTool("a", "b", { i });`;
    const none = `${CALL}await Promise.resolve(callTool);`;
    const call = ((await timed(calls, { session })) - (await timed(none, { session }))) / CALLS;
    return { first, warm, later: later.toSorted((a, b) => a - b)[RUNS >> 1] ?? 0, call, standing };
  } finally {
    await sandbox.dispose();
  }
}

const ROWS = {
  "first run, nothing booted": "first",
  "first run, warm pool": "warm",
  "later run of a session": "later",
  "round trip of a tool call": "call",
  "memory of a guest that waits": "standing",
} as const;

describe("measures of a microVM", () => {
  it("beside those of a Deno process on the same machine", async () => {
    const folder = mkdtempSync(join(tmpdir(), "cem-measure-"));
    const workspaceDir = join(folder, "workspace");
    mkdirSync(workspaceDir);
    const spec = { workspaceDir, limits: LIMITS };
    const settings = { reuse: "session", standby: 1, maxStandby: 1 } as const;
    try {
      const deno = await measure(() =>
        createDenoSandboxProvider({ ...settings, denoPath: denoFile }).create(spec),
      );
      const machine = await measure(() => makeProvider(settings).create(spec));
      const lines = Object.entries(ROWS).map(([name, key]) => {
        const of = (one: Measured) =>
          key === "standing" ? "" : ` ${(one[key] / deno.later).toFixed(1).padStart(8)}`;
        return `CEM-MEASURE ${name.padEnd(30)}${of(machine)}${of(deno)} ${(machine[key] / deno[key]).toFixed(1).padStart(8)}`;
      });
      console.log(
        `CEM-MEASURE ${"".padEnd(30)} microVM     Deno    ratio (a later run on Deno is 1)\n${lines.join("\n")}`,
      );
      expect(machine.warm).toBeLessThan(machine.first);
      expect(machine.later).toBeLessThan(machine.first);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
