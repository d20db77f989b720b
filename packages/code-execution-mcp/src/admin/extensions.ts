import os from "node:os";
import type { Skill, SkillDraft, SkillSummary } from "@cem/core";
import type { DrawnStep, Workflow } from "@cem/workflows";
import { createLoadedAgent } from "../create-agent.ts";
import type { ServerSource, ConfigSource } from "../options.ts";
import { openProject } from "../wiring/open-project.ts";
import type { Project } from "../wiring/project.ts";
import { createConfiguredSkills, promoteCheckedSkill, trySkill, type SkillTrial } from "../wiring/skills.ts";
import { summarizeWorkflows, type ConfiguredWorkflow } from "../wiring/workflows/workflow-settings.ts";

/** Lists skills and proposals, each with the tools it uses that have changed. */
export async function listSkills(source: ServerSource = {}): Promise<SkillSummary[]> {
  await using project = await openProject(source);
  const { store, tools } = await openSkills(project, source);
  return await store.list({ tools });
}

/** Reads a skill, or a proposal if there is no such skill. @throws CemError `SKILL_NOT_FOUND` */
export async function readSkill(name: string, source: ServerSource = {}): Promise<Skill> {
  await using project = await openProject(source);
  const { store, tools } = await openSkills(project, source);
  return await store.get(name, { tools });
}

/**
 * Reviews a skill, checks its types and runs its test.
 *
 * @throws CemError `SKILL_NOT_FOUND`, `SKILL_INVALID` or `SKILL_REFUSED`
 */
export async function testSkill(name: string, source: ServerSource = {}): Promise<Skill> {
  const { toProgramCode } = await import("@cem/skills");
  await using project = await openProject(source);
  const { store, tools, trial } = await openSkills(project, source);
  const skill = await store.get(name, { tools });
  const draft: SkillDraft = { ...skill, code: toProgramCode(skill.code) };
  await trySkill(draft, { tools, signal: source.signal }, trial);
  return skill;
}

/**
 * Promotes a proposal to a skill if it passes its checks.
 *
 * @param source - With `approvedBy`. Default: the name of the user who runs this process.
 * @throws CemError `SKILL_NOT_FOUND`, `SKILL_INVALID` or `SKILL_REFUSED`
 */
export async function promoteSkill(
  name: string,
  source: ServerSource & { approvedBy?: string | undefined } = {},
): Promise<Skill> {
  const { approvedBy = os.userInfo().username, signal } = source;
  await using project = await openProject(source);
  const { tools, trial } = await openSkills(project, source);
  return await promoteCheckedSkill(name, { tools, signal, approvedBy }, trial);
}

/** Removes a skill, its versions and its proposal. @throws CemError `SKILL_NOT_FOUND` */
export async function removeSkill(name: string, source: ServerSource = {}): Promise<void> {
  await using project = await openProject(source);
  await (await createConfiguredSkills(project)).remove(name);
}

async function openSkills(loaded: Project, { signal, onLog }: ServerSource) {
  const openAgent = (other: Project) => createLoadedAgent(other, { oneRun: true, sessions: false, onLog });
  await using agent = openAgent(loaded);
  const { servers } = await agent.discoverTools({ signal });
  const store = await createConfiguredSkills(loaded);
  const trial: SkillTrial = { loaded, openAgent };
  return { store, tools: servers.flatMap(({ tools }) => tools), trial };
}

/** Lists the workflows of the configuration. */
export async function listWorkflows(source: ConfigSource = {}): Promise<ConfiguredWorkflow[]> {
  await using project = await openProject(source);
  return summarizeWorkflows(project.config);
}

/** Renders a workflow as lines for a terminal. */
export async function drawWorkflow(workflow: Workflow): Promise<DrawnStep[]> {
  return (await import("@cem/workflows")).drawWorkflow(workflow);
}
