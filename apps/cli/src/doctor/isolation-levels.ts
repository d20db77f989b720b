import type { IsolationLevel } from "@cem/core";

/** Limits of each isolation level, in the words of the security model's table, which a test compares. */
export const NOT_HELD: Readonly<Record<IsolationLevel, string>> = {
  microvm: "faults of the processor's virtualization or of microsandbox",
  namespaces: "faults of the host's kernel, which the guest shares",
  permissions:
    "faults of Deno or V8, which are the host's user then; memory outside of V8's heap only by polling",
};
