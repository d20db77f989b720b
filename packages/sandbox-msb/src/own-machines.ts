import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { isProcessRunning, processStart, textOfFile } from "@cem/core/files";

/** Finds the child process that runs a machine; `undefined` when there is none, or no `/proc`. */
export function findMachineProcess(name: string): number | undefined {
  if (process.platform !== "linux") return undefined;
  for (const task of readdirSync("/proc/self/task")) {
    const children = (textOfFile(`/proc/self/task/${task}/children`) ?? "").split(" ").filter(Boolean);
    const found = children.find((pid) => textOfFile(`/proc/${pid}/cmdline`)?.includes(name));
    if (found !== undefined) return Number(found);
  }
  return undefined;
}

/** Identifies a running process, even among earlier ones with the same pid; `undefined` when it doesn't run. */
export function processIdentity(pid: number): string | undefined {
  const started = processStart(pid);
  if (started !== undefined) return `${pid}-${started}`;
  return process.platform !== "linux" && isProcessRunning(pid) ? String(pid) : undefined;
}

/** Labels that mark the machines of this package, and the process that owns them. */
export const OWN_LABEL = "cem";
export const OWN_VALUE = "guest";
export const HOST_LABEL = "cem.host";
const PREFIX = "cem";
const NAME_BYTES = 6;

export function ownLabels(): Record<string, string> {
  return { [OWN_LABEL]: OWN_VALUE, [HOST_LABEL]: processIdentity(process.pid) ?? String(process.pid) };
}

export function newMachineName(): string {
  return `${PREFIX}-${process.pid}-${randomBytes(NAME_BYTES).toString("hex")}`;
}

/** Removes the machines of processes that no longer run, and no others. */
export async function sweepLeftovers(driver: {
  list(label: string, value: string): Promise<{ name: string; labels: Record<string, string> }[]>;
  remove(name: string): Promise<void>;
}): Promise<void> {
  for (const { name, labels } of await driver.list(OWN_LABEL, OWN_VALUE)) {
    const host = labels[HOST_LABEL];
    if (host === undefined || processIdentity(Number.parseInt(host, 10)) === host) continue;
    // Another process may be removing it, or it is ending.
    await driver.remove(name).catch(() => {});
  }
}
