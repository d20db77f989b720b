export { describeCalls, printSchemaType } from "./print/signature.ts";
export { compareWithLock } from "./folder/compare-with-lock.ts";
export { inspectDescription, findSuspiciousText } from "./inspect-description.ts";
export { readLock, LOCK_FILE } from "./folder/server-lock.ts";
export { listForeignModules } from "./folder/server-folder.ts";
export { readDefinition } from "./tool-definition.ts";
export { generateToolModule } from "./print/tool-module.ts";
export { nameServerFolders, nameTools } from "./tool-names.ts";
export { removeServerFiles, writeServerFiles } from "./folder/write-server-files.ts";

export type { DescribedCalls } from "./print/signature.ts";
export type { ChangedTool, LockComparison, Difference } from "./folder/compare-with-lock.ts";
export type { DescriptionFinding, TextFinding } from "./inspect-description.ts";
export type { ToolWarning } from "./folder/plan-server-files.ts";
export type { ReadLock, LockedTool, ServerLock } from "./folder/server-lock.ts";
export type { RawToolDefinition, SkippedTool } from "./tool-definition.ts";
export type { ToolModule, ToolModuleNaming } from "./print/tool-module.ts";
export type { ToolName } from "./tool-names.ts";
export type {
  ServerFolder,
  WriteServerFilesRequest,
  WrittenServerFiles,
} from "./folder/write-server-files.ts";
