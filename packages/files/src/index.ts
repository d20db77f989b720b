export { appendPrivately, openForAppending } from "./append.ts";
export { resolveOwnPackage } from "./own-package.ts";
export type { OwnPackage, OwnPackageImporters } from "./own-package.ts";
export { isProcessRunning, processStart } from "./processes.ts";
export { isTemporaryFile, PRIVATE_FILE, PRIVATE_FOLDER, replaceFile } from "./replace-file.ts";
export type { ReplaceOptions } from "./replace-file.ts";
