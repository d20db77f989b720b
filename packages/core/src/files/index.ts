export {
  appendPrivately,
  openForAppending,
  openHandle,
  makeFolder,
  AT_ONCE_BYTES,
  ignoreMissing,
  isTemporaryFile,
  isWithin,
  PRIVATE_FILE,
  PRIVATE_FOLDER,
  replaceFile,
  textOfFile,
  writeTo,
} from "./write-files.ts";
export type { ReplaceOptions } from "./write-files.ts";
export { removeFolder } from "./remove-folder.ts";
export { resolveOwnPackage } from "./own-package.ts";
export type { OwnPackage, OwnPackageImporters } from "./own-package.ts";
export { FileLock, stillWritten, withFileLock } from "./file-lock.ts";
export type { FileLockOptions } from "./file-lock.ts";
export { createProcessFolder, removeProcessFolder, isProcessRunning, processStart } from "./processes.ts";
