import type { ErrorDetails } from "./errors/entry.ts";
import type { KnownErrorCode } from "./errors/index.ts";

const BRAND = Symbol.for("@cem/core.error");

export type { ErrorDetails, KnownErrorCode };

/** A code of this project, or one that a plugin brings. */
export type ErrorCode = KnownErrorCode | (string & {});

/** Options of a {@link CemError}. */
export interface CemErrorOptions {
  /** @defaultValue `{}` */
  details?: ErrorDetails | undefined;
  /** The error that caused this one. */
  cause?: unknown;
}

/**
 * An error of this project. `message` is for people and says what happened, with the numbers; `code` and `details` are
 * for programs.
 *
 * Test for one with {@link CemError.isInstance} instead of `instanceof`, which fails for errors of another copy of this
 * package.
 *
 * @example
 * ```ts
 * try {
 *   await agent.executeTask(task);
 * } catch (error) {
 *   if (CemError.isInstance(error) && error.code === "TASK_EMPTY") console.log("Say what to do.");
 *   else throw error;
 * }
 * ```
 */
export class CemError extends Error {
  override readonly name: string = "CemError";
  /** A stable code. */
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  /**
   * @param code - A {@link KnownErrorCode}; or a plugin's own code of the same form: upper case, with underscores.
   * @param message - Human-readable, with the numbers. Without advice on settings, which depends on the caller.
   */
  constructor(code: ErrorCode, message: string, options: CemErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Whether a value is a `CemError`, of this or another copy of the package. */
  static isInstance(value: unknown): value is CemError {
    return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[BRAND] === true;
  }
}

/** An error as plain data, ready for JSON. */
export interface ErrorInfo {
  code: ErrorCode;
  message: string;
  details: ErrorDetails;
  /** A setting, option or command that helps. Added by the command line and the servers, not where errors arise. */
  hint?: string | undefined;
}

/** Codes of failures of the host's backends. Their messages contain addresses that clients must not see. */
const INTERNAL = new Set([
  "AUDIT_UNWRITABLE",
  "STORE_UNAVAILABLE",
  "STORE_SEALED",
  "FILES_UNAVAILABLE",
  "FILES_DAMAGED",
  "VAULT_UNREADABLE",
]);

/** Codes of system errors, whose messages name files of the host: `EMFILE: too many open files, scandir '/srv/skills'`. */
const UNFORESEEN = new Set(["UNEXPECTED", "RUN_KILLED"]);
const NAMES_FILE = /^E[A-Z]+: .*, \w+ '/u;

/** Returns an error as clients and code in the sandbox may see it: without addresses of the host's backends. */
export function forClients<Info extends Pick<ErrorInfo, "code" | "message"> & Partial<ErrorInfo>>(
  error: Info,
): Info {
  const { code, message, details } = error;
  if (!INTERNAL.has(code) && !(UNFORESEEN.has(code) && NAMES_FILE.test(message))) return error;
  // Calls that were made must not be repeated unseen.
  const isSent = details?.["isSent"] === true;
  const next = isSent ? "What was called was done, but its result is lost" : "Try again in a moment";
  const shown = `A service behind this server does not work now (${code}). ${next}; the server's log has the reason.`;
  return { ...error, message: shown, ...(details !== undefined && { details: {} }) };
}

/** Turns a thrown value into plain data. Anything but a {@link CemError} gets the code `UNEXPECTED`. */
export function toErrorInfo(thrown: unknown): ErrorInfo {
  if (CemError.isInstance(thrown)) {
    return { code: thrown.code, message: thrown.message, details: thrown.details };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: "UNEXPECTED", message, details: {} };
}

/** Creates an error from plain data, such as that of another process or thread. */
export function fromErrorInfo({ code, message, details }: ErrorInfo): CemError {
  return new CemError(code, message, { details });
}
