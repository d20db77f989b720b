import type { Finding } from "@cem/core";

/** The rule of findings that tell why a value may be missing in what a program returned. */
const MISSING_VALUE = "unknown-member";

/** The warnings of the type check that may explain why a run failed, or why values are missing in its result. */
export function suspicionsIn(findings: readonly Finding[]): Finding[] {
  return findings.filter(({ rule, severity }) => severity === "warning" && rule === MISSING_VALUE);
}
