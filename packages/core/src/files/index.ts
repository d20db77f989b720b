export * from "./write-files.ts";
export { removeFolder } from "./remove-folder.ts";
export * from "./own-package.ts";
export * from "./file-lock.ts";
export { createProcessFolder, removeProcessFolder, isProcessRunning, processStart } from "./processes.ts";
