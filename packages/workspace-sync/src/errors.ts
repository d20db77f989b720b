import { CemError } from "@cem/core";

/** The storage of files does not answer, or refuses. */
export function filesUnavailable(location: string, why: string, cause?: unknown): CemError {
  const message = `The shared files at ${location} can't be used: ${why}.`;
  return new CemError("FILES_UNAVAILABLE", message, { cause, details: { location } });
}

/** What is shared is not what was put there. */
export function filesDamaged(location: string, what: string): CemError {
  const message = `The shared files at ${location} are damaged: ${what}. Nothing was changed here.`;
  return new CemError("FILES_DAMAGED", message, { details: { location } });
}

/** There is more than a workspace may hold. */
export function tooManyFiles(count: number, bytes: number, limits: Limits): CemError {
  const message = `The workspace has ${count} files with ${bytes} bytes; at most ${limits.maxFiles} files with ${limits.maxBytes} bytes are shared.`;
  return new CemError("WORKSPACE_FULL", message, { details: { files: count, bytes, ...limits } });
}

/** The workspace was deleted by someone else. */
export function workspaceGone(): CemError {
  return new CemError(
    "CUSTOMER_GONE",
    "The customer was deleted meanwhile. What the run wrote was deleted, too.",
  );
}

/** What a workspace may hold at most, its quota and some room. */
export interface Limits {
  maxFiles: number;
  maxBytes: number;
}
