export { executeCodeTool, searchToolsTool } from "./ai.ts";
export type { ExecuteCodeTool, ModelOutput, SearchToolsTool } from "./ai.ts";
export type {
  ApprovedCodeOptions,
  ExecuteCodeOptions,
  NeedsApproval,
  RunOptions,
  SearchToolsOptions,
} from "./options.ts";
export type { CodeOutput } from "./run-code.ts";
