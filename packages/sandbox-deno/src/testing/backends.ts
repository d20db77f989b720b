import type { IsolationLevel } from "@cem/core";
import { describeSandboxContract } from "@cem/sandbox/contract";
import type { ContractGroup } from "@cem/sandbox/contract";
import { createDenoSandboxProvider } from "../index.ts";

/** Created by `nested-mounts.test.ts` in a file system that it mounts there. */
export const MOUNTED_FILE = "/usr/share/doc/mounted";

/** An isolation backend that works on this host. */
export interface AvailableBackend {
  isolation: "bubblewrap" | "unshare" | "permissions";
  level: IsolationLevel;
}

/** Probes every backend; writes to stderr which ones don't work here, and why. */
export async function availableBackends(): Promise<AvailableBackend[]> {
  const available: AvailableBackend[] = [];
  for (const isolation of ["bubblewrap", "unshare", "permissions"] as const) {
    const probe = await createDenoSandboxProvider({ isolation }).probe();
    if (probe.available) available.push({ isolation, level: probe.isolation.level });
    else process.stderr.write(`not tested on this host: ${isolation} (${probe.reason})\n`);
  }
  if (available.length === 0) throw new Error("No backend of the Deno sandbox works on this host.");
  return available;
}

/** The strongest backend of each isolation level; with `CEM_TESTS`, every one that works on this host. */
export async function backendPerLevel(): Promise<AvailableBackend[]> {
  const available = await availableBackends();
  if (process.env["CEM_TESTS"] !== undefined) return available;
  return available.filter(
    ({ level }, index) => available.findIndex((other) => other.level === level) === index,
  );
}

/**
 * Describes the contract, or a group of its tests, for the backends of one level. The weaker ones isolate the guest in
 * another way; inside it everything is the same, and CI has time for the strongest only. `npm test` on a machine
 * without bubblewrap tests the isolation of `unshare`.
 */
export async function describeContractAt(
  level: IsolationLevel,
  groups: ContractGroup[] = ["guest", "programs", "realms"],
): Promise<void> {
  const backends = (await backendPerLevel()).filter((backend) => backend.level === level);
  const tried = process.env["CEM_TESTS"] === "more" ? backends.slice(0, 1) : backends;
  for (const { isolation } of tried) {
    // The programs share a sandbox, and have guests that are kept ready. Of the other tests most make one of their own for
    // a program or two: what is kept ready there would be started for nothing.
    const standby = groups.includes("programs") ? 1 : 0;
    const makeProvider = () => createDenoSandboxProvider({ isolation, standby, maxStandby: standby });
    describeSandboxContract(`deno, ${isolation}`, makeProvider, { level, groups });
  }
}
