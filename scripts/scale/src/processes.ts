import { readdirSync, readFileSync } from "node:fs";

/** The kernel counts processor time in hundredths of a second. */
const TICK_MS = 10;
const KIB_PER_MIB = 1_024;

/** The use so far by a process and all that it has started: processor time, of ended ones too, and memory by share. */
export function treeOf(root: number): { cpuMs: number; memoryMiB: number } {
  const children = new Map<number, number[]>();
  const ticks = new Map<number, number>();
  for (const pid of readdirSync("/proc").map(Number).filter(Number.isInteger)) {
    const fields = statOf(pid);
    if (fields === undefined) continue;
    const parent = Number(fields[1]);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
    // utime, stime, and those of the children that were waited for.
    ticks.set(
      pid,
      fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0),
    );
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  const cpuMs = tree.reduce((sum, pid) => sum + (ticks.get(pid) ?? 0), 0) * TICK_MS;
  const memoryMiB = tree.reduce((sum, pid) => sum + proportionalKib(pid), 0) / KIB_PER_MIB;
  return { cpuMs, memoryMiB };
}

/** The fields of `/proc/PID/stat` from the state on; `undefined` for a process that has ended. */
function statOf(pid: number): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /su, "")
      .split(" ");
  } catch {
    return undefined;
  }
}

function proportionalKib(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/mu.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
