import path from "node:path";
import type { ErrorInfo } from "@cem/core";

/** What the system said, and what to do, by its code. */
const REASONS: Readonly<Record<string, [why: string, help: string]>> = {
  EACCES: ["permission was denied", "Change its permissions, or work in a folder of your own."],
  EPERM: ["permission was denied", "Change its permissions, or work in a folder of your own."],
  EROFS: ["it is on a file system that is read-only", "Work in a folder that can be written."],
  ENOSPC: ["the disk is full", "Delete what is not needed, and try again."],
  EDQUOT: ["your quota of the disk is used up", "Delete what is not needed, and try again."],
  EMFILE: ["too many files are open", "Close other programs, or raise the limit with: ulimit -n 4096"],
  ENFILE: ["too many files are open", "Close other programs, and try again."],
  EISDIR: ["it is a folder", "Give a file, or move the folder out of the way."],
  ENOTDIR: ["a file stands where a folder should be", "Move it out of the way."],
  ELOOP: ["it is a link that leads back to itself", "Remove the link."],
  ENAMETOOLONG: ["its name is too long", "Choose a shorter one."],
  ENOENT: ["it is not there", "Check the path and its spelling."],
};

/** Calls that only read. An `open` may do either: with no right to do so it most often was to write. */
const READS = new Set(["scandir", "opendir", "stat", "lstat", "readlink", "realpath", "access", "read"]);

/** The error for a failure of the file system, which is no fault of the program; `undefined` for any other. */
export function systemErrorOf(thrown: unknown): ErrorInfo | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code = "", syscall = "", path: file } = thrown as NodeJS.ErrnoException;
  const reason = Object.hasOwn(REASONS, code) ? REASONS[code] : undefined;
  if (reason === undefined || syscall === "" || file === undefined) return undefined;
  const [why, help] = reason;
  const isRead = READS.has(syscall) || (syscall === "open" && !isTemporary(file));
  const verb = READS.has(syscall) ? "read" : isRead ? "opened" : "written";
  return {
    code: isRead ? "FILE_UNREADABLE" : "NOT_WRITABLE",
    message: `${shownPath(file)} can't be ${verb}: ${why}. ${help}`,
    details: { path: file, reason: code },
  };
}

/** A file that is written first and then takes another's name. */
function isTemporary(file: string): boolean {
  return path.basename(file).endsWith(".tmp");
}

/** Instead of a temporary file its folder, and no descriptors of this process. */
function shownPath(file: string): string {
  const shown = isTemporary(file) ? path.dirname(file) : file;
  return shown.replace(/^\/proc\/self\/fd\/\d+\/?/u, "") || "A folder of the workspace";
}
