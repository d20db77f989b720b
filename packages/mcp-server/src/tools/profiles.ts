import { CemError } from "@cem/core";
import { getServerTools, listAvailableTools, listServers, searchTools } from "./catalog-tools.ts";
import { readResult } from "./read-result.ts";
import { executeCode, executeTask } from "./run-tools.ts";
import type { BindTool } from "./server-tool.ts";
import { getSkill, getState, listSkills, saveSkill, saveState } from "./stored-tools.ts";

/** Sets of tools. `full`: all. `code`: the three for a model that writes code. `original`: the seven of AgentKernel. */
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

const PROFILE_TOOLS: Readonly<Record<Profile, readonly BindTool[]>> = {
  full: [executeCode, readResult, ...ORIGINAL],
  code: [executeCode, searchTools, readResult],
  original: ORIGINAL,
};

/** The tools for skills that a profile adds where there is a store of them. */
export function skillToolsOf(profile: Profile): readonly BindTool[] {
  return profile === "full" ? [listSkills, getSkill, saveSkill] : [];
}

/** The tools of a profile. @throws CemError `OPTION_INVALID` for a profile that does not exist. */
export function toolsOf(profile: Profile): readonly BindTool[] {
  if (Object.hasOwn(PROFILE_TOOLS, profile)) return PROFILE_TOOLS[profile];
  const message = `There is no profile ${JSON.stringify(profile)}. There are: ${PROFILES.join(", ")}.`;
  throw new CemError("OPTION_INVALID", message, { details: { option: "profile", known: PROFILES } });
}

const WITH_CODE =
  "Work in code: search_tools shows signatures, execute_code calls many tools at once. Return only what you need.";

/** The server's instructions for a client's model; the tools' descriptions say the rest. */
export const INSTRUCTIONS: Readonly<Record<Profile, string>> = {
  full: WITH_CODE,
  code: WITH_CODE,
  original:
    "execute_task does a task given in plain words with the tools here; search_tools shows what they can do.",
};
