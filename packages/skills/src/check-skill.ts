import { cp, mkdir } from "node:fs/promises";
import path from "node:path";
import { CemError } from "@cem/core";
import type { Agent, SkillDraft, TaskResult, ToolDefinition } from "@cem/core";
import { parseDraft, toProgramCode, toSkillFile } from "./skill-draft.ts";
import { formatSkillMarkdown } from "./skill-files.ts";
import { replaceSkillFolder, skillNames } from "./skill-folder.ts";

/**
 * Reviews a skill's code, checks its types and runs its test in the sandbox.
 *
 * @param agent - An agent whose folder of skills has the skill in it: see {@link stageSkill}.
 * @throws CemError `SKILL_REFUSED` with what was found.
 */
export async function checkSkill(
  { name, code, test }: Pick<SkillDraft, "name" | "code" | "test">,
  agent: Pick<Agent, "executeCode">,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const options = { signal, typeCheck: "before", session: `skill ${name}` } as const;
  // Others compile against it, and its test need not reach every line.
  const reviewed = await agent.executeCode(toProgramCode(code), { ...options, typeCheck: "strict" });
  requireSuccess(name, "code", reviewed);
  const tested = await agent.executeCode(toProgramCode(test), options);
  requireSuccess(name, "test", tested);
  if (tested.value === false) throw refused(name, "its test returned false", tested);
}

function requireSuccess(name: string, part: "code" | "test", result: TaskResult): void {
  if (result.status === "success") return;
  throw refused(name, `its ${part} failed: ${result.error?.message ?? result.status}`, result);
}

function refused(name: string, reason: string, { error, output }: TaskResult): CemError {
  const said = output.trim() === "" ? "" : ` It printed: ${output.trim().slice(0, 500)}`;
  return new CemError(
    "SKILL_REFUSED",
    `The skill "${name}" did not pass: ${reason.replace(/\.?$/u, ".")}${said}`,
    { details: { skill: name, failure: error } },
  );
}

/**
 * Makes a folder of skills as it would be with a draft saved, to try the draft in.
 *
 * @param skillsDir - The skills that there are. The draft may import them.
 * @param folder - The folder to fill. Made where it does not exist.
 * @throws CemError `SKILL_INVALID`
 */
export async function stageSkill(
  draft: SkillDraft,
  { skillsDir, folder, tools }: { skillsDir: string; folder: string; tools: readonly ToolDefinition[] },
): Promise<void> {
  const { code, test } = parseDraft(draft, tools);
  await mkdir(folder, { recursive: true });
  for (const name of await skillNames(skillsDir))
    await cp(path.join(skillsDir, name), path.join(folder, name), { recursive: true });
  const { name, description, instructions: body = "" } = draft;
  const markdown = formatSkillMarkdown({ name, description, metadata: {}, body });
  const files = { markdown, code: toSkillFile(code), test: toSkillFile(test) };
  await replaceSkillFolder(path.join(folder, name), files);
}
