import { setTimeout as sleep } from "node:timers/promises";
import { CemError } from "@cem/core";
import type { EmbeddedDriver } from "./embedded-driver.ts";
import type { Microvm, MicrovmSpec } from "./microvm-driver.ts";

/**
 * Creates a machine. One that has not booted in time is removed, also when it boots later.
 *
 * @param timeoutMs - In milliseconds.
 * @throws CemError `GUEST_START_FAILED` when it has not booted in time.
 */
export async function bootMachine(
  driver: Pick<EmbeddedDriver, "create" | "remove">,
  spec: MicrovmSpec,
  timeoutMs: number,
): Promise<Microvm> {
  const booting = driver.create(spec);
  const settled = new AbortController();
  const timeout = sleep(timeoutMs, undefined, { signal: settled.signal });
  const machine = await Promise.race([booting, timeout]).finally(() => settled.abort());
  if (machine !== undefined) return machine;
  void driver.remove(spec.name).catch(() => {});
  void booting.then((late) => late.kill()).catch(() => {});
  throw new CemError("GUEST_START_FAILED", `The machine did not boot within ${timeoutMs} ms.`, {
    details: { timeoutMs },
  });
}
