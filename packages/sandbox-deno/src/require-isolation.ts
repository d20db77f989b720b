import { CemError, ISOLATION_LEVELS, type IsolationLevel } from "@cem/core";
import type { IsolationBackend } from "./isolation-backend.ts";

/** How to get a stronger isolation on this platform. */
export function isolationHint(): string {
  if (process.platform !== "linux") return "Use a microVM sandbox, or run on Linux with bubblewrap.";
  return "Install bubblewrap (apt install bubblewrap, dnf install bubblewrap) and allow user namespaces, or use a microVM sandbox.";
}

/**
 * Checks that a backend reaches the required isolation level.
 *
 * @param wanted - The weakest level allowed; `undefined` allows any.
 * @param notes - Why stronger backends don't work.
 * @throws CemError `ISOLATION_TOO_WEAK`.
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
    `The required isolation is at least ${wanted}; the Deno sandbox reaches ${level} here (${mechanisms.join(", ")}).${why} ${isolationHint()}`,
    { details: { wanted, level, mechanisms, notes } },
  );
}
