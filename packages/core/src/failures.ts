import { CemError } from "./errors.ts";

/** The names that could have been meant. */
export interface KnownNames {
  /** All names that exist. A message lists the first 20. */
  known?: readonly string[] | undefined;
  /** The existing name that is most similar to the wrong one. */
  nearest?: string | undefined;
}

/** The tool that an error is about. */
export interface FailedTool {
  server: string;
  tool: string;
}

/** Creates a `SERVER_NOT_FOUND` error. Its message suggests `nearest`, or lists the known servers. */
export function serverNotFound(server: string, names: KnownNames = {}): CemError {
  const message = `There is no server "${server}".${suggestion(names, "No server is configured.")}`;
  return new CemError("SERVER_NOT_FOUND", message, { details: { server, ...detailsOf(names) } });
}

/** Creates a `TOOL_NOT_FOUND` error. Its message suggests `nearest`, or lists the known tools. */
export function toolNotFound({ server, tool }: FailedTool, names: KnownNames = {}): CemError {
  const message = `Server "${server}" has no tool "${tool}".${suggestion(names, "It has no tools.")}`;
  return new CemError("TOOL_NOT_FOUND", message, { details: { server, tool, ...detailsOf(names) } });
}

/** Creates a `RESULT_TOO_LARGE` error for a tool's result of `bytes` bytes. */
export function resultTooLarge({ server, tool }: FailedTool, bytes: number, limitBytes: number): CemError {
  return new CemError(
    "RESULT_TOO_LARGE",
    `${server}.${tool} answered with ${bytes} bytes; at most ${limitBytes} may come back at once. Ask the tool for less.`,
    { details: { server, tool, bytes, limitBytes } },
  );
}

/** Creates a `RESULT_NOT_JSON` error. `cause` is what `JSON.stringify` threw. */
export function resultNotJson({ server, tool }: FailedTool, cause: unknown): CemError {
  const reason = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
  return new CemError("RESULT_NOT_JSON", `${server}.${tool} returned what JSON can't represent: ${reason}.`, {
    details: { server, tool },
    cause,
  });
}

/**
 * Creates an `ABORTED` error for a call that its caller cancelled.
 *
 * @param isSent - Whether its tool may have executed it.
 */
export function callAborted({ server, tool }: FailedTool, isSent = false): CemError {
  const when = isSent ? " after it had been sent: the tool may have executed it" : "";
  return new CemError("ABORTED", `The call of ${server}.${tool} was cancelled${when}.`, {
    details: { server, tool, ...(isSent && { isSent }) },
  });
}

/** `SERVER_DISABLED`: the server is switched off in the configuration. */
export function serverDisabled(server: string): CemError {
  return new CemError("SERVER_DISABLED", `Server "${server}" is switched off.`, { details: { server } });
}

/** `AUTH_REQUIRED`: the server refused a request without, or with too little, authorization. */
export function authRequired(server: string, requiredScope?: string): CemError {
  const scope = requiredScope === undefined ? "" : ` for the scope ${requiredScope}`;
  return new CemError("AUTH_REQUIRED", `Server "${server}" requires authorization${scope}.`, {
    details: { server, requiredScope },
  });
}

const MAX_LISTED_NAMES = 20;

function suggestion({ known, nearest }: KnownNames, none: string): string {
  if (nearest !== undefined) return ` Did you mean "${nearest}"?`;
  if (known === undefined) return "";
  if (known.length === 0) return ` ${none}`;
  const listed = known.slice(0, MAX_LISTED_NAMES).join(", ");
  const left = known.length - MAX_LISTED_NAMES;
  return ` There are: ${listed}${left > 0 ? ` and ${left} more` : ""}.`;
}

function detailsOf({ known, nearest }: KnownNames): object {
  return { known: known?.slice(0, MAX_LISTED_NAMES), nearest };
}

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
