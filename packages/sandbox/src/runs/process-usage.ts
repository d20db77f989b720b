import { readFileSync } from "node:fs";
import type { GuestUsage } from "../guests/guest.ts";

const PAGE_BYTES = 4_096;
const MAX_PROCESSES = 64;
/** Linux counts processor time for programs in hundredths of a second. */
const TICK_MS = 10;

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function childrenOf(pid: number): number[] {
  const text = read(`/proc/${pid}/task/${pid}/children`) ?? "";
  return text.split(" ").filter(Boolean).map(Number);
}

function readProcessorMs(pid: number): number {
  const stat = read(`/proc/${pid}/stat`) ?? "";
  // The second field, the name in parentheses, may have spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS;
}

/** Measures a process and its descendants by `/proc`; `undefined` when the process is gone or there is no `/proc`. */
export function readUsage(root: number | undefined): GuestUsage | undefined {
  if (root === undefined) return undefined;
  const pids = [root];
  let memoryBytes = 0;
  let processorMs = 0;
  let writtenBytes = 0;
  for (let index = 0; index < pids.length && index < MAX_PROCESSES; index += 1) {
    const pid = pids[index] as number;
    const [, resident, shared] = (read(`/proc/${pid}/statm`) ?? "").split(" ").map(Number);
    if (resident === undefined || shared === undefined) {
      if (index === 0) return undefined;
      continue;
    }
    memoryBytes += (resident - shared) * PAGE_BYTES;
    processorMs += readProcessorMs(pid);
    const written = /^wchar: (\d+)$/m.exec(read(`/proc/${pid}/io`) ?? "");
    writtenBytes += Number(written?.[1] ?? 0);
    pids.push(...childrenOf(pid));
  }
  return { memoryBytes, processorMs, writtenBytes };
}
