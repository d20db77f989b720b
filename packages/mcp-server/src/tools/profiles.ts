import { CemError } from "@cem/core";
import { CATALOG_TOOLS } from "./catalog-tools.ts";
import { RESULT_TOOLS } from "./read-result.ts";
import { RUN_TOOLS } from "./run-tools.ts";
import { PROFILES, type DeclaredTool, type Profile, type ToolHost } from "./server-tool.ts";
import { STORED_TOOLS } from "./stored-tools.ts";

/** The server's own tools, in the order in which clients see them. Each declares its profiles. */
const TOOLS: readonly DeclaredTool[] = [...RUN_TOOLS, ...CATALOG_TOOLS, ...RESULT_TOOLS, ...STORED_TOOLS];

/** The tools of a profile whose required parts are available. @throws CemError `OPTION_INVALID` for an unknown profile. */
export function toolsOf(profile: Profile, host: ToolHost): readonly DeclaredTool[] {
  if (PROFILES.includes(profile))
    return TOOLS.filter(
      ({ profiles, needs }) =>
        profiles.includes(profile) && (needs === undefined || host[needs] !== undefined),
    );
  const message = `There is no profile ${JSON.stringify(profile)}. There are: ${PROFILES.join(", ")}.`;
  throw new CemError("OPTION_INVALID", message, { details: { option: "profile", known: PROFILES } });
}

const WITH_CODE =
  "Work in code: search_tools shows signatures, execute_code calls many tools at once. Return only what you need.";

/** The server's instructions for a client's model, in addition to the tools' descriptions. */
export const INSTRUCTIONS: Readonly<Record<Profile, string>> = {
  full: WITH_CODE,
  code: WITH_CODE,
  original:
    "execute_task does a task given in plain words with the tools here; search_tools shows what they can do.",
};
