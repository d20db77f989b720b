import { randomBytes } from "node:crypto";
import { processIdentity } from "./machine-process.ts";
import type { EmbeddedDriver } from "./embedded-driver.ts";

export const OWN_LABEL = "cem";
export const OWN_VALUE = "guest";
export const HOST_LABEL = "cem.host";
const PREFIX = "cem";
const NAME_BYTES = 6;

/** Labels of this process's machines. */
export function ownLabels(): Record<string, string> {
  return { [OWN_LABEL]: OWN_VALUE, [HOST_LABEL]: processIdentity(process.pid) ?? String(process.pid) };
}

/** A new machine name, unique on this host. */
export function newMachineName(): string {
  return `${PREFIX}-${process.pid}-${randomBytes(NAME_BYTES).toString("hex")}`;
}

/** Removes the machines of processes that no longer run, and no others. Resolves with their number. */
export async function sweepLeftovers(driver: Pick<EmbeddedDriver, "list" | "remove">): Promise<number> {
  let removed = 0;
  for (const { name, labels } of await driver.list(OWN_LABEL, OWN_VALUE)) {
    const host = labels[HOST_LABEL];
    if (host === undefined || processIdentity(Number.parseInt(host, 10)) === host) continue;
    await driver.remove(name).then(
      () => (removed += 1),
      // Another process removes it too, or it is just ending.
      () => {},
    );
  }
  return removed;
}
