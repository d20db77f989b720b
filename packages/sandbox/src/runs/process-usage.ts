import { textOfFile } from "@cem/core/files";
import type { GuestUsage } from "../guests/guest.ts";

const PAGE_BYTES = 4_096;
const MAX_PROCESSES = 64;
/** Linux counts processor time for programs in hundredths of a second. */
const TICK_MS = 10;
/** Time between two measurements of all processes. */
const LOOK_MS = 200;
const NOTHING: Readonly<GuestUsage> = { memoryBytes: 0, processorMs: 0, writtenBytes: 0 };

function childrenOf(pid: number): number[] {
  const text = textOfFile(`/proc/${pid}/task/${pid}/children`) ?? "";
  return text.split(" ").filter(Boolean).map(Number);
}

function readProcessorMs(pid: number): number {
  const stat = textOfFile(`/proc/${pid}/stat`) ?? "";
  // The second field, the name in parentheses, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS;
}

/** The usage of one process. */
interface Measured extends Omit<GuestUsage, "processorMs"> {
  pid: number;
}

function measure(pid: number): Measured | undefined {
  const [, resident, shared] = (textOfFile(`/proc/${pid}/statm`) ?? "").split(" ").map(Number);
  if (resident === undefined || shared === undefined) return undefined;
  const written = /^wchar: (\d+)$/m.exec(textOfFile(`/proc/${pid}/io`) ?? "");
  return { pid, memoryBytes: (resident - shared) * PAGE_BYTES, writtenBytes: Number(written?.[1] ?? 0) };
}

/**
 * Measures a process and its descendants by `/proc`. Between two measurements of all processes, it measures only the
 * largest, which is the runtime: its launcher does nothing more, and it starts no other process.
 *
 * @returns a function that returns `undefined` when the process is gone or there is no `/proc`.
 */
export function createUsageReader(root: number | undefined): () => GuestUsage | undefined {
  let largest: Measured | undefined;
  /** Usage of all other processes, with the processor time of all processes. */
  let rest: GuestUsage = NOTHING;
  let lookedAt = -Infinity;

  const lookAtAll = (): GuestUsage | undefined => {
    lookedAt = performance.now();
    rest = { ...NOTHING };
    largest = undefined;
    const pids = root === undefined ? [] : [root];
    for (let index = 0; index < pids.length && index < MAX_PROCESSES; index += 1) {
      const pid = pids[index] as number;
      const measured = measure(pid);
      if (measured === undefined) continue;
      rest.processorMs += readProcessorMs(pid);
      const isLarger = largest === undefined || measured.memoryBytes > largest.memoryBytes;
      addTo(rest, isLarger ? largest : measured);
      if (isLarger) largest = measured;
      pids.push(...childrenOf(pid));
    }
    return largest && addTo({ ...rest }, largest);
  };

  return () => {
    if (largest === undefined || performance.now() - lookedAt > LOOK_MS) return lookAtAll();
    const again = measure(largest.pid);
    return again === undefined ? lookAtAll() : addTo({ ...rest }, again);
  };
}

function addTo(sum: GuestUsage, one: Measured | undefined): GuestUsage {
  sum.memoryBytes += one?.memoryBytes ?? 0;
  sum.writtenBytes += one?.writtenBytes ?? 0;
  return sum;
}
