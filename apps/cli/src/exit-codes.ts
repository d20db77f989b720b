import type { ErrorInfo, TaskStatus } from "@cem/core";

export const EXIT_OK = 0;
/** The task failed, was refused or ran out of time. */
export const EXIT_FAILED = 1;
/** Bad arguments, bad configuration, a file that isn't there. */
const EXIT_MISUSE = 2;

/** Codes of this command's own complaints about how it was called. */
export const MISUSE = {
  usage: "USAGE",
  fileNotFound: "FILE_NOT_FOUND",
  fileUnreadable: "FILE_UNREADABLE",
  notWritable: "NOT_WRITABLE",
  inputEmpty: "INPUT_EMPTY",
  inputNotUtf8: "INPUT_NOT_UTF8",
  inputTooLarge: "INPUT_TOO_LARGE",
  unknownServer: "SERVER_NOT_FOUND",
} as const;

/** Codes of other packages that also say how the command was called. */
const OTHER_MISUSE = ["SERVER_EXISTS", "SERVER_NOT_FOUND"];

const misuseCodes: ReadonlySet<string> = new Set([...Object.values(MISUSE), ...OTHER_MISUSE]);

export function exitCodeOfError({ code }: ErrorInfo): number {
  const isMisuse = misuseCodes.has(code) || code.startsWith("CONFIG_") || code.startsWith("RECORDING_");
  return isMisuse ? EXIT_MISUSE : EXIT_FAILED;
}

export function exitCodeOfTask(status: TaskStatus): number {
  return status === "success" ? EXIT_OK : EXIT_FAILED;
}
