import type { ErrorInfo, KnownErrorCode, TaskStatus } from "@cem/core";

export const EXIT_OK = 0;
/** The task failed, was refused or ran out of time. */
export const EXIT_FAILED = 1;
/** Bad arguments, bad configuration, a file that isn't there. */
const EXIT_MISUSE = 2;

/** Codes of the command line's own errors, whose messages say what helps. */
const OWN_CODES: ReadonlySet<string> = new Set<KnownErrorCode>([
  "USAGE",
  "FILE_NOT_FOUND",
  "FILE_UNREADABLE",
  "NOT_WRITABLE",
  "INPUT_EMPTY",
  "INPUT_NOT_UTF8",
  "INPUT_TOO_LARGE",
]);

/** Codes of other packages that stand for wrong use of the command. */
const MISUSE_CODES: ReadonlySet<string> = new Set<KnownErrorCode>([
  "FORM_INVALID",
  "SERVER_EXISTS",
  "SERVER_NOT_FOUND",
]);

/** Whether an error is about the command line itself. */
export function isOwnCode(code: string): boolean {
  return OWN_CODES.has(code);
}

export function exitCodeOfError({ code }: ErrorInfo): number {
  const isMisuse =
    isOwnCode(code) || MISUSE_CODES.has(code) || code.startsWith("CONFIG_") || code.startsWith("RECORDING_");
  return isMisuse ? EXIT_MISUSE : EXIT_FAILED;
}

export function exitCodeOfTask(status: TaskStatus): number {
  return status === "success" ? EXIT_OK : EXIT_FAILED;
}
