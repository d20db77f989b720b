import { CemError } from "./errors.ts";

/** Why the system refuses a write, by its code. */
const FULL: Readonly<Record<string, string>> = {
  ENOSPC: "is full",
  EDQUOT: "has no room left in this user's quota",
  EFBIG: "takes no file of this size",
};
const CLOSED: Readonly<Record<string, string>> = {
  EROFS: "is read-only",
  EACCES: "does not let this user write",
  EPERM: "does not let this user write",
};

/**
 * Turns a failed write into an error that says what is full or read-only: `DISK_FULL` or `NOT_WRITABLE`. Other errors are
 * given back as they are.
 *
 * @param what - The file to write, such as "/workspace/state.json".
 * @param place - Where, such as "the disk of the workspace".
 */
export function writeFailure(error: unknown, what: string, place: string): unknown {
  const reason = String((error as { code?: unknown } | null | undefined)?.code);
  const isFull = Object.hasOwn(FULL, reason);
  const why = isFull ? FULL[reason] : Object.hasOwn(CLOSED, reason) ? CLOSED[reason] : undefined;
  if (why === undefined || CemError.isInstance(error)) return error;
  const message = `${what} can't be written: ${place} ${why} (${reason}). What was there before is unchanged.`;
  return new CemError(isFull ? "DISK_FULL" : "NOT_WRITABLE", message, {
    details: { what, place, reason },
    cause: error,
  });
}
