import { readFileSync } from "node:fs";
import os from "node:os";

/** The clocks of this machine. */
export interface MachineClock {
  /** Identifies the machine's run from start to shutdown, as far as it can be known. */
  machine: string;
  /** Milliseconds that no one can set, which every process of the machine counts from the same moment. */
  steadyMs(): number;
  /** The time of day, in milliseconds, which may jump. */
  wallMs(): number;
}

/** A count of time in a file that several machines use one after another. */
export interface SteadyTime {
  /** Milliseconds since the file was begun, as far as they are known to have passed. */
  nowMs: number;
  /** The time of day at `nowMs`. */
  wallMs: number;
  /** By machine: its steady clock, and the count at that moment. */
  machines: Record<string, { steadyMs: number; nowMs: number }>;
}

/** Machines that are remembered. */
const MAX_MACHINES = 8;
const NS_PER_MS = 1_000_000n;
const BOOT_ID = "/proc/sys/kernel/random/boot_id";

/** The clocks of the machine that this process runs on. */
export const thisMachine: MachineClock = {
  get machine() {
    return machineId();
  },
  steadyMs: () => Number(process.hrtime.bigint() / NS_PER_MS),
  wallMs: () => Date.now(),
};

let knownId: string | undefined;

function machineId(): string {
  if (knownId !== undefined) return knownId;
  try {
    knownId = readFileSync(BOOT_ID, "utf8").trim();
  } catch {
    // After a restart its steady clock counts from the start, so that less time seems to have passed, never more.
    knownId = os.hostname();
  }
  return knownId;
}

/** A count that begins now. */
export function beginTime(clock: MachineClock): SteadyTime {
  return advance({ nowMs: 0, wallMs: clock.wallMs(), machines: {} }, clock);
}

/**
 * Brings a count up to date. On a machine that has seen it, the steady clock tells how much time has passed, whatever the
 * time of day says. Elsewhere, and after a restart, the time of day tells; where it went back, nothing has passed.
 */
export function advance({ nowMs, wallMs, machines }: SteadyTime, clock: MachineClock): SteadyTime {
  const steadyMs = clock.steadyMs();
  const wall = clock.wallMs();
  const seen = machines[clock.machine];
  const passed =
    seen === undefined || steadyMs < seen.steadyMs
      ? nowMs + Math.max(0, wall - wallMs)
      : seen.nowMs + (steadyMs - seen.steadyMs);
  const now = Math.max(nowMs, passed);
  const others = Object.entries(machines).filter(([machine]) => machine !== clock.machine);
  const latest = others.toSorted(([, one], [, other]) => other.nowMs - one.nowMs).slice(0, MAX_MACHINES - 1);
  return {
    nowMs: now,
    wallMs: wall,
    machines: Object.fromEntries([[clock.machine, { steadyMs, nowMs: now }], ...latest]),
  };
}
