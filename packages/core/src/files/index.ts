export { appendPrivately, openForAppending } from "./append.ts";
export { makeFolder, makeFolderSync } from "./make-folder.ts";
export { resolveOwnPackage } from "./own-package.ts";
export type { OwnPackage, OwnPackageImporters } from "./own-package.ts";
export { FileLock, withFileLock } from "./file-lock.ts";
export type { FileLockOptions } from "./file-lock.ts";
export { createProcessFolder, removeProcessFolder } from "./process-folder.ts";
export { isProcessRunning, processStart } from "./processes.ts";
export {
  AT_ONCE_BYTES,
  ignoreMissing,
  isTemporaryFile,
  PRIVATE_FILE,
  PRIVATE_FOLDER,
  replaceFile,
  writeTo,
} from "./replace-file.ts";
export type { ReplaceOptions } from "./replace-file.ts";
