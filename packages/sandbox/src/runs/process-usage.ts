import { readFileSync } from "node:fs";
import type { GuestUsage } from "../guests/guest.ts";

const PAGE_BYTES = 4_096;
const MAX_PROCESSES = 64;

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

/** Measures a process and its descendants by `/proc`; `undefined` when the process is gone or there is no `/proc`. */
export function readUsage(root: number | undefined): GuestUsage | undefined {
  if (root === undefined) return undefined;
  const pids = [root];
  let memoryBytes = 0;
  let writtenBytes = 0;
  for (let index = 0; index < pids.length && index < MAX_PROCESSES; index += 1) {
    const pid = pids[index] as number;
    const [, resident, shared] = (read(`/proc/${pid}/statm`) ?? "").split(" ").map(Number);
    if (resident === undefined || shared === undefined) {
      if (index === 0) return undefined;
      continue;
    }
    memoryBytes += (resident - shared) * PAGE_BYTES;
    const written = /^wchar: (\d+)$/m.exec(read(`/proc/${pid}/io`) ?? "");
    writtenBytes += Number(written?.[1] ?? 0);
    pids.push(...childrenOf(pid));
  }
  return { memoryBytes, writtenBytes };
}
