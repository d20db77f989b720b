import type { Profile } from "./profiles.ts";

const WITH_CODE =
  "Work in code: search_tools shows signatures, execute_code calls many tools at once. Return only what you need.";

/** What a client's model is told of the server as a whole; the tools' descriptions say the rest. */
export const INSTRUCTIONS: Readonly<Record<Profile, string>> = {
  full: WITH_CODE,
  code: WITH_CODE,
  original:
    "execute_task does a task given in plain words with the tools here; search_tools shows what they can do.",
};
