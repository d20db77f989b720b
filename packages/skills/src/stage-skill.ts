import { cp, mkdir } from "node:fs/promises";
import path from "node:path";
import type { SkillDraft, ToolDefinition } from "@cem/core";
import { parseDraft } from "./skill-draft.ts";
import { replaceSkillFolder, skillNames } from "./skill-folder.ts";
import { toSkillFile } from "./skill-imports.ts";
import { formatSkillMarkdown } from "./skill-markdown.ts";

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
  for (const name of await skillNames(skillsDir)) {
    await cp(path.join(skillsDir, name), path.join(folder, name), { recursive: true });
  }
  const { name, description } = draft;
  const files = {
    markdown: formatSkillMarkdown({ name, description, metadata: {}, body: draft.instructions ?? "" }),
    code: toSkillFile(code),
    test: toSkillFile(test),
  };
  await replaceSkillFolder(path.join(folder, name), files);
}
