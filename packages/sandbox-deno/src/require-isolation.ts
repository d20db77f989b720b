import { CemError, ISOLATION_LEVELS, type IsolationLevel } from "@cem/core";
import type { IsolationBackend } from "./isolation-backend.ts";

/** What a person can do for a stronger isolation on this platform. */
export function wayToMore(): string {
  if (process.platform !== "linux") return "Use a microVM sandbox, or run on Linux with bubblewrap.";
  return "Install bubblewrap (apt install bubblewrap, dnf install bubblewrap) and allow user namespaces, or use a microVM sandbox.";
}

/**
 * Sees that what works is strong enough.
 *
 * @throws CemError `ISOLATION_TOO_WEAK` with what there is and how to get more.
 */
export function requireIsolation(
  { level, mechanisms }: IsolationBackend,
  wanted: IsolationLevel | undefined,
  notes: readonly string[],
): void {
  if (wanted === undefined || ISOLATION_LEVELS.indexOf(level) <= ISOLATION_LEVELS.indexOf(wanted)) return;
  const why = notes.length > 0 ? ` Tried: ${notes.join("; ")}.` : "";
  throw new CemError(
    "ISOLATION_TOO_WEAK",
    `The isolation asked for is ${wanted} at least; the Deno sandbox gives ${level} here (${mechanisms.join(", ")}).${why} ${wayToMore()}`,
    { details: { wanted, level, mechanisms, notes } },
  );
}
