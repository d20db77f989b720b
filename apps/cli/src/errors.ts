import os from "node:os";
import path from "node:path";
import type { ErrorInfo, KnownErrorCode } from "@cem/core";
import { hintFor } from "@cem/core/errors";

export const EXIT_OK = 0;
/** The task failed, was refused or ran out of time. */
export const EXIT_FAILED = 1;
/** Bad arguments, bad configuration, a file that isn't there. */
const EXIT_MISUSE = 2;

/** Codes of the command line's own errors, whose messages already contain advice. */
const OWN_CODES: ReadonlySet<string> = new Set<KnownErrorCode>([
  "USAGE",
  "FILE_NOT_FOUND",
  "FILE_UNREADABLE",
  "NOT_WRITABLE",
  "INPUT_EMPTY",
  "INPUT_NOT_UTF8",
  "INPUT_TOO_LARGE",
]);

/** Codes of other packages that indicate wrong use of the command. */
const MISUSE_CODES: ReadonlySet<string> = new Set<KnownErrorCode>([
  "CUSTOMER_INVALID",
  "FORM_INVALID",
  "SERVER_EXISTS",
  "SERVER_NOT_FOUND",
  "TOOL_NOT_FOUND",
  "WORKFLOW_NOT_FOUND",
]);

export function isOwnCode(code: string): boolean {
  return OWN_CODES.has(code);
}

export function exitCodeOfError({ code }: ErrorInfo): number {
  const isMisuse =
    isOwnCode(code) || MISUSE_CODES.has(code) || code.startsWith("CONFIG_") || code.startsWith("RECORDING_");
  return isMisuse ? EXIT_MISUSE : EXIT_FAILED;
}

export function withHint(error: ErrorInfo): ErrorInfo {
  return { ...error, hint: error.hint ?? hintFor(error) };
}

/** The system's reason, and the fix, by its error code. */
const REASONS: Readonly<Record<string, [why: string, help: string]>> = {
  EACCES: ["permission was denied", "Change its permissions, or work in a folder of your own."],
  EPERM: ["permission was denied", "Change its permissions, or work in a folder of your own."],
  EROFS: ["it is on a file system that is read-only", "Work in a folder that can be written."],
  ENOSPC: ["the disk is full", "Delete what is not needed, and try again."],
  EDQUOT: ["your quota of the disk is used up", "Delete what is not needed, and try again."],
  EMFILE: ["too many files are open", "Close other programs, or raise the limit with: ulimit -n 4096"],
  ENFILE: ["too many files are open", "Close other programs, and try again."],
  EISDIR: ["it is a folder", "Give a file, or move the folder out of the way."],
  // While creating a folder.
  EEXIST: ["a file stands where a folder should be", "Move it out of the way."],
  ENOTDIR: ["a file stands where a folder should be", "Move it out of the way."],
  ELOOP: ["it is a link that leads back to itself", "Remove the link."],
  ENAMETOOLONG: ["its name is too long", "Choose a shorter one."],
  ENOENT: ["it is not there", "Check the path and its spelling."],
};

/** The environment variable of the user's settings folder. */
const USER_FOLDER = process.platform === "win32" ? "APPDATA" : "XDG_CONFIG_HOME";

/** System calls that only read. An `open` may do either; without permission it was most likely for writing. */
const READS = new Set(["scandir", "opendir", "stat", "lstat", "readlink", "realpath", "access", "read"]);

/** Converts a file system failure, which is not a bug, to an error; `undefined` for any other. */
export function systemErrorOf(thrown: unknown): ErrorInfo | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code = "", syscall = "", path: file } = thrown as NodeJS.ErrnoException;
  const reason = Object.hasOwn(REASONS, code) ? REASONS[code] : undefined;
  if (reason === undefined || syscall === "" || file === undefined) return undefined;
  const [why, help] = reason;
  const isRead = READS.has(syscall) || (syscall === "open" && !isTemporary(file));
  const verb = READS.has(syscall) ? "read" : isRead ? "opened" : "written";
  const unread = code === "ENOENT" ? "FILE_NOT_FOUND" : "FILE_UNREADABLE";
  return {
    code: isRead ? unread : "NOT_WRITABLE",
    message: `${shownPath(file)} can't be ${verb}: ${why}. ${isOfUser(file) ? `Set ${USER_FOLDER} to a folder that can be written.` : help}`,
    details: { path: file, reason: code },
  };
}

/** Whether a path is the user's settings folder, a parent of it, or a file in it. */
function isOfUser(file: string): boolean {
  const folder = path.join(process.env[USER_FOLDER] ?? path.join(os.homedir(), ".config"), "cem");
  return folder.startsWith(file) || file.startsWith(folder);
}

function isTemporary(file: string): boolean {
  return path.basename(file).endsWith(".tmp");
}

/** The path to show: the folder of a temporary file, and none for a file descriptor of this process. */
function shownPath(file: string): string {
  const shown = isTemporary(file) ? path.dirname(file) : file;
  return shown.replace(/^\/proc\/self\/fd\/\d+\/?/u, "") || "A folder of the workspace";
}
