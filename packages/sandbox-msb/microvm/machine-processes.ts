import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 50;
const PATIENCE_MS = 20_000;

/** The machines that this process runs, whichever of its threads started them. */
export function machineProcesses(): number[] {
  return readdirSync("/proc/self/task").flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
}

/** Waits until something is true. */
export async function until(isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error(`Waited ${PATIENCE_MS} ms in vain.`);
    await sleep(POLL_MS);
  }
}
