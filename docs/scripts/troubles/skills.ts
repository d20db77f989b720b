import type { Troubles } from "./trouble.ts";

/** Errors of skills. */
export const SKILL_TROUBLES = {
  SKILLS_DISABLED: { cause: "There is no folder for skills.", wayOut: "Set `execution.skills_dir`." },
  SKILL_INVALID: {
    cause: "Name, description, code or test of a skill break a rule.",
    wayOut: "Mend what the message names.",
  },
  SKILL_NOT_FOUND: { cause: "No skill has this name.", wayOut: "Look with `cem skills`." },
  SKILL_REFUSED: {
    cause: "The skill's code did not pass the review, its types or its own test.",
    wayOut: "Mend what was found, then save it again.",
  },
} satisfies Troubles;
