const BRAND = Symbol.for("@cem/core.error");

/** Facts about an error that a program can read. Never holds a secret. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

export interface CemErrorOptions {
  /** Numbers, names and places, for programs. */
  details?: ErrorDetails;
  /** What led to this error; kept as it is. */
  cause?: unknown;
}

/**
 * The base of every error this project throws. `code` is stable and may be matched on; the message is for
 * people and says what happened and what to do next.
 *
 * Recognise one with {@link CemError.isInstance}, which also holds across copies of this package.
 */
export class CemError extends Error {
  override readonly name: string = "CemError";
  /** Stable, upper case, words joined by underscores: `CONFIG_INVALID`. */
  readonly code: string;
  readonly details: ErrorDetails;

  constructor(code: string, message: string, options: CemErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
    Object.defineProperty(this, BRAND, { value: true });
  }

  static isInstance(value: unknown): value is CemError {
    return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[BRAND] === true;
  }
}

/** An error as a result carries it: plain data, ready for JSON. */
export interface ErrorInfo {
  code: string;
  message: string;
  details: ErrorDetails;
}

/** Turns whatever was thrown into plain data. An error that is not ours gets the code `UNEXPECTED`. */
export function toErrorInfo(thrown: unknown): ErrorInfo {
  if (CemError.isInstance(thrown)) {
    return { code: thrown.code, message: thrown.message, details: thrown.details };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: "UNEXPECTED", message, details: {} };
}
