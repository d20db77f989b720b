import { mkdir, readdir } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Agent, SaveSkillOptions, Skill, SkillDraft, SkillStore, ToolDefinition } from "@cem/core";
import { createProcessFolder, removeProcessFolder } from "@cem/core/files";
import { refreshSkills, type Project } from "./project.ts";

export interface SkillTrial {
  loaded: Project;
  openAgent: (loaded: Project) => Agent & AsyncDisposable;
}

type Saving = SaveSkillOptions & { tools: readonly ToolDefinition[] };

/** The store of skills in the configured folder; for an owner, the owner's skills in addition to the shared ones. */
export async function createConfiguredSkills({ config, owner }: Project): Promise<SkillStore> {
  const { createSkillStore } = await import("@cem/skills");
  if (owner === undefined) return createSkillStore({ skillsDir: config.execution.skillsDir });
  const { skillsDir, sharedSkillsDir } = owner;
  return createSkillStore({ skillsDir, sharedSkillsDir, onChange: () => refreshSkills(owner) });
}

/** Saves a skill if it passes review, type check and its own test. @throws CemError `SKILL_INVALID` or `SKILL_REFUSED` */
export async function saveCheckedSkill(draft: SkillDraft, saving: Saving, trial: SkillTrial): Promise<Skill> {
  await trySkill(draft, saving, trial);
  return (await createConfiguredSkills(trial.loaded)).save(draft, saving);
}

/**
 * Promotes a proposal to a skill if it passes its checks. Its provenance records what it was checked with.
 *
 * @throws CemError `SKILL_NOT_FOUND`, `SKILL_INVALID` or `SKILL_REFUSED`
 */
export async function promoteCheckedSkill(
  name: string,
  saving: Saving & { approvedBy: string },
  trial: SkillTrial,
): Promise<Skill> {
  const { toProgramCode } = await import("@cem/skills");
  const store = await createConfiguredSkills(trial.loaded);
  const { code, ...proposal } = await store.get(name, { status: "proposal" });
  const draft: SkillDraft = { ...proposal, code: toProgramCode(code) };
  const { session, author } = proposal.provenance ?? {};
  await trySkill(draft, saving, trial);
  await store.save(draft, { author, session, ...saving, status: "proposal" });
  return store.promote(name, saving.approvedBy);
}

/**
 * Tries a skill in a sandbox with a temporary workspace and a skills folder that contains it.
 *
 * @throws CemError `SKILL_INVALID` or `SKILL_REFUSED`
 */
export async function trySkill(
  draft: SkillDraft,
  { tools, signal }: Saving,
  { loaded, openAgent }: SkillTrial,
): Promise<void> {
  const { checkSkill, stageSkill } = await import("@cem/skills");
  const { execution, optimizations } = loaded.config;
  const folder = createProcessFolder(os.tmpdir(), "cem-skill");
  const [skillsDir, workspaceDir] = [path.join(folder, "skills"), path.join(folder, "workspace")];
  try {
    await mkdir(workspaceDir);
    await stageSkill(draft, { skillsDir: execution.skillsDir, folder: skillsDir, tools });
    const config = {
      ...loaded.config,
      execution: { ...execution, skillsDir, workspaceDir },
      // The cache of the permanent skills folder must not be filled from a temporary one.
      optimizations: { ...optimizations, toolCache: false },
    };
    await using agent = openAgent({ ...loaded, sync: undefined, config });
    await checkSkill(draft, agent, { signal });
  } finally {
    removeProcessFolder(folder);
  }
}

/** Whether an owner has skills of their own. */
export async function hasSkills(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  return names.some((name) => !name.startsWith("."));
}
