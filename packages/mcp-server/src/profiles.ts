import { CemError } from "@cem/core";
import type { BindTool } from "./server-tool.ts";
import { getServerTools, listAvailableTools, listServers } from "./tools/catalog-tools.ts";
import { readResult } from "./tools/read-result.ts";
import { executeCode, executeTask } from "./tools/run-tools.ts";
import { getSkill, listSkills, saveSkill } from "./tools/skill-tools.ts";
import { searchTools } from "./tools/search-tools.ts";
import { getState, saveState } from "./tools/state-tools.ts";

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
