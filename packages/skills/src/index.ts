export { adoptSkillFolder, readSkillDraft } from "./adopt-skill.ts";
export type { ForeignSkill } from "./adopt-skill.ts";
export { checkSkill } from "./check-skill.ts";
export { toProgramCode } from "./skill-imports.ts";
export { createSkillStore } from "./skill-store.ts";
export type { SkillStoreSettings } from "./skill-store.ts";
export { stageSkill } from "./stage-skill.ts";
export { toolDigest, toolsUsedBy } from "./used-tools.ts";
export type { Skill, SkillDraft, SkillProvenance, SkillStatus, SkillStore, SkillSummary } from "@cem/core";
