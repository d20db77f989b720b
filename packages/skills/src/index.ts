export { checkSkill, stageSkill } from "./check-skill.ts";
export { mergeSkills } from "./merge-skills.ts";
export type { MergedSkills } from "./merge-skills.ts";
export { toProgramCode } from "./skill-draft.ts";
export { createSkillStore } from "./skill-store.ts";
export type { SkillStoreSettings } from "./skill-store.ts";
export { toolDigest, toolsUsedBy } from "./tool-digests.ts";
