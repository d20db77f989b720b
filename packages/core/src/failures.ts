import { CemError, toErrorInfo } from "./errors.ts";
import { nearest } from "./text/nearest.ts";

/** The tool that an error is about. */
export interface FailedTool {
  server: string;
  tool: string;
}

/** Creates a `SERVER_NOT_FOUND` error. Its message suggests the nearest of the known servers, or lists them. */
export function serverNotFound(server: string, known?: readonly string[]): CemError {
  const { text, details } = suggestion(server, known, "No server is configured.");
  return new CemError("SERVER_NOT_FOUND", `There is no server "${server}".${text}`, {
    details: { server, ...details },
  });
}

/** Creates a `TOOL_NOT_FOUND` error. Its message suggests the nearest of the server's tools, or lists them. */
export function toolNotFound({ server, tool }: FailedTool, known?: readonly string[]): CemError {
  const { text, details } = suggestion(tool, known, "It has no tools.");
  return new CemError("TOOL_NOT_FOUND", `Server "${server}" has no tool "${tool}".${text}`, {
    details: { server, tool, ...details },
  });
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
 * @param sent - Set if its tool may have executed it: `read` for a tool that only reads.
 */
export function callAborted({ server, tool }: FailedTool, sent?: "read" | "write"): CemError {
  const when = sent === undefined ? "" : " after it had been sent: the tool may have executed it";
  return new CemError("ABORTED", `The call of ${server}.${tool} was cancelled${when}.`, {
    details: { server, tool, ...(sent && { isSent: true }), ...(sent === "write" && { mayBeDone: true }) },
  });
}

/** `SERVER_DISABLED`: the server is switched off in the configuration. */
export function serverDisabled(server: string): CemError {
  return new CemError("SERVER_DISABLED", `Server "${server}" is switched off.`, { details: { server } });
}

/** `AUTH_REQUIRED`: the server refused a request without, or with too little, authorization. */
export function authRequired(server: string, requiredScope?: string, customer?: string): CemError {
  const scope = requiredScope === undefined ? "" : ` for the scope ${requiredScope}`;
  return new CemError("AUTH_REQUIRED", `Server "${server}" requires authorization${scope}.`, {
    details: { server, requiredScope, customer },
  });
}

const MAX_LISTED_NAMES = 20;

function suggestion(name: string, known: readonly string[] | undefined, none: string) {
  if (known === undefined) return { text: "" };
  const [near] = nearest(name, known);
  const details = { known: known.slice(0, MAX_LISTED_NAMES), nearest: near };
  if (near !== undefined) return { text: ` Did you mean "${near}"?`, details };
  if (known.length === 0) return { text: ` ${none}`, details };
  const left = known.length - details.known.length;
  return { text: ` There are: ${details.known.join(", ")}${left > 0 ? ` and ${left} more` : ""}.`, details };
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

/** How Node refuses a module that it takes for CommonJS. */
const NO_MODULE = /^(?:Cannot use import statement outside a module|Unexpected token 'export'$)/u;
/** Not a package that is there without its files, of which Node gives the path. */
const NO_PACKAGE = /^Cannot find package '((?:@[^'/]+\/)?[^'/\\]+)'/u;

/** Describes why a module of a user's project can't be loaded, and what helps. */
export function whyNotLoaded(error: unknown): string {
  const { message } = toErrorInfo(error);
  const [, missing] = NO_PACKAGE.exec(message) ?? [];
  if (missing !== undefined) return `${message} Install it in the project: npm install ${missing}`;
  if (!NO_MODULE.test(message)) return message;
  return `${message}. Its package.json says "type": "commonjs". Change that with npm pkg set type=module, or let the name of the file end in .mts (.mjs).`;
}
