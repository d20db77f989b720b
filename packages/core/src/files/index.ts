export * from "./write-files.ts";
export * from "./contained-files.ts";
export { removeFolder } from "./remove-folder.ts";
export * from "./own-package.ts";
export * from "./project-packages.ts";
export * from "./left-out.ts";
export * from "./file-lock.ts";
export * from "./child-processes.ts";
export {
  bootId,
  createProcessFolder,
  removeProcessFolder,
  isProcessRunning,
  processStart,
} from "./processes.ts";
