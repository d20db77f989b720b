import type { IsolationLevel } from "@cem/core";
import { createDenoSandboxProvider } from "./index.ts";

/** A way of holding guests that works on this host. */
export interface AvailableRealisation {
  isolation: "bubblewrap" | "unshare" | "permissions";
  level: IsolationLevel;
}

/** Those that work on this host, as tried; says on stderr which don't, and why. */
export async function availableRealisations(): Promise<AvailableRealisation[]> {
  const available: AvailableRealisation[] = [];
  for (const isolation of ["bubblewrap", "unshare", "permissions"] as const) {
    const probe = await createDenoSandboxProvider({ isolation }).probe();
    if (probe.available) available.push({ isolation, level: probe.isolation.level });
    else process.stderr.write(`not tested on this host: ${isolation} (${probe.reason})\n`);
  }
  if (available.length === 0) throw new Error("No realisation of the Deno sandbox works on this host.");
  return available;
}
