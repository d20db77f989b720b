import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 50;
const PATIENCE_MS = 20_000;

function childrenOf(folder: string): number[] {
  try {
    return readdirSync(`${folder}/task`).flatMap((task) =>
      readFileSync(`${folder}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    // It has gone.
    return [];
  }
}

/** False for one that has ended and that nobody has asked about yet. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** The machines that this process runs, whichever of its threads started them. */
export function machineProcesses(): number[] {
  return childrenOf("/proc/self").filter(isRunning);
}

/** All processes below this one. */
export function descendants(): number[] {
  const found = machineProcesses();
  for (let index = 0; index < found.length; index += 1) found.push(...childrenOf(`/proc/${found[index]}`));
  return found;
}

/** Waits until something is true. */
export async function until(isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error(`Waited ${PATIENCE_MS} ms in vain.`);
    await sleep(POLL_MS);
  }
}
