import type { ErrorCode } from "./error-codes.ts";

const BRAND = Symbol.for("@cem/core.error");

/** Facts about an error that a program can read. Never holds a secret. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

export interface CemErrorOptions {
  /** Numbers, names and places, for programs. */
  details?: ErrorDetails | undefined;
  /** The error that led to this one. */
  cause?: unknown;
}

/**
 * The base of every error this project throws. Its message is for people and says what happened with its numbers.
 *
 * Recognise one with {@link CemError.isInstance}, which also holds across copies of this package.
 */
export class CemError extends Error {
  override readonly name: string = "CemError";
  /** The stable code that programs may match on. */
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  /** @param code - One of {@link ERROR_CODES}, or a code of your own in the same form: upper case, underscores. */
  constructor(code: ErrorCode, message: string, options: CemErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
    Object.defineProperty(this, BRAND, { value: true });
  }

  static isInstance(value: unknown): value is CemError {
    return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[BRAND] === true;
  }
}

/** An error as plain data, ready for JSON. */
export interface ErrorInfo {
  code: ErrorCode;
  message: string;
  details: ErrorDetails;
  /** What helps: a setting, an option or a command. Only a face adds it, since only a face knows its reader. */
  hint?: string | undefined;
}

/** Turns whatever was thrown into plain data. An exception that is no {@link CemError} gets the code `UNEXPECTED`. */
export function toErrorInfo(thrown: unknown): ErrorInfo {
  if (CemError.isInstance(thrown)) {
    return { code: thrown.code, message: thrown.message, details: thrown.details };
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: "UNEXPECTED", message, details: {} };
}
