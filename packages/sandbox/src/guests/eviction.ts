import type { ConnectedGuest } from "./connected-guest.ts";
import type { GuestUsage } from "./guest.ts";

/** A guest of one session, from when a run needs it to its end. */
export interface SessionGuest {
  readonly session: string;
  /** `running`: it belongs to a run, also before it has started. */
  state: "running" | "idle" | "ended";
  /** Absent until it has started. */
  connected?: ConnectedGuest | undefined;
  runs: number;
  /** Its memory when it was last measured. */
  memoryBytes: number;
  /** `performance.now()` at the end of its last run. */
  idleSince: number;
  /** Its usage at the first check after its last run. */
  idleUsage?: GuestUsage | undefined;
  /** Whether it was told to release memory. */
  rests: boolean;
}

/** Idle guests kept over all sessions, unless another number was configured. */
export const DEFAULT_KEPT = 16;
/** Idle time, in milliseconds, after which fewer guests are kept, unless more than the default number was configured. */
const REST_MS = 10_000;
const RESTING = 2;
/** Memory per kept guest, in bytes: guests are also evicted when all together, as last measured, use more. */
const BYTES_A_GUEST = 32 * 1024 * 1024;
/** Maximum number of runs per guest: each leaves a little in its memory. */
const MAX_RUNS = 1_000;
/** Memory at which a guest is replaced, in bytes. */
const MAX_GUEST_BYTES = 160 * 1024 * 1024;
/** Limits of an idle guest's activity. A garbage collection takes about 20 ms. */
const MAX_IDLE_PROCESSOR_MS = 250;
const MAX_IDLE_WRITTEN_BYTES = 64 * 1024;
const MAX_IDLE_GROWTH_BYTES = 32 * 1024 * 1024;

/** Whether a guest has served its last run. */
export function shouldRetire({ runs, memoryBytes }: Pick<SessionGuest, "runs" | "memoryBytes">): boolean {
  return runs >= MAX_RUNS || memoryBytes > MAX_GUEST_BYTES;
}

/**
 * Chooses idle guests to end when they are too many or too large. At random: when more sessions run in turn than guests
 * are kept, the one idle longest is needed next.
 */
export function chooseSurplus(idle: Iterable<SessionGuest>, maxKept: number): SessionGuest[] {
  const left = [...idle];
  const surplus: SessionGuest[] = [];
  let bytes = left.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0);
  while (left.length > maxKept || bytes > maxKept * BYTES_A_GUEST) {
    const [guest] = left.splice(Math.floor(Math.random() * left.length), 1);
    if (guest === undefined) break;
    bytes -= guest.memoryBytes;
    surplus.push(guest);
  }
  return surplus;
}

/**
 * Chooses idle guests that were idle for too long (sooner when there are many), and those that were active although they
 * run no program.
 *
 * @param idle - Longest idle first.
 */
export function chooseStale(idle: ReadonlySet<SessionGuest>, maxKept: number, maxIdleMs: number) {
  const now = performance.now();
  const surplus = idle.size - (maxKept > DEFAULT_KEPT ? maxKept : RESTING);
  return [...idle].filter((guest, at) => {
    const idleMs = now - guest.idleSince;
    return idleMs >= maxIdleMs || (at < surplus && idleMs >= REST_MS) || isActive(guest);
  });
}

/** Whether an idle guest was active since the first check. */
function isActive(guest: SessionGuest): boolean {
  const usage = guest.connected?.guest.usage?.();
  const first: GuestUsage | undefined = (guest.idleUsage ??= usage);
  if (usage === undefined || first === undefined) return false;
  return (
    usage.processorMs - first.processorMs > MAX_IDLE_PROCESSOR_MS ||
    usage.writtenBytes - first.writtenBytes > MAX_IDLE_WRITTEN_BYTES ||
    usage.memoryBytes - first.memoryBytes > MAX_IDLE_GROWTH_BYTES
  );
}
