import type { BindTool } from "./server-tool.ts";
import { getServerTools, listAvailableTools, listServers, searchTools } from "./tools/catalog-tools.ts";
import { readResult } from "./tools/read-result.ts";
import { executeCode, executeTask } from "./tools/run-tools.ts";
import { getState, saveState } from "./tools/state-tools.ts";

/** `full`: all tools. `code`: the three that a model that writes code needs. `original`: the seven of the original. */
export const PROFILES = ["full", "code", "original"] as const;
export type Profile = (typeof PROFILES)[number];

const ORIGINAL: readonly BindTool[] = [
  executeTask,
  listAvailableTools,
  getState,
  saveState,
  listServers,
  getServerTools,
  searchTools,
];

export const PROFILE_TOOLS: Readonly<Record<Profile, readonly BindTool[]>> = {
  full: [executeCode, readResult, ...ORIGINAL],
  code: [executeCode, searchTools, readResult],
  original: ORIGINAL,
};
