import { cp, mkdir } from "node:fs/promises";
import path from "node:path";
import { CemError, type Agent, type SkillDraft, type TaskResult, type ToolDefinition } from "@cem/core";
import { parseDraft, toProgramCode, toSkillFile } from "./skill-draft.ts";
import { formatSkillMarkdown } from "./skill-files.ts";
import { replaceSkillFolder, skillNames } from "./skill-folder.ts";

const STRICT =
  "A skill's types are checked strictly, unlike a program's, since other code compiles against it.";

/**
 * Reviews a skill's code, checks its types and runs its test in the sandbox.
 *
 * @param agent - An agent whose skills folder contains the skill: see {@link stageSkill}.
 * @throws CemError `SKILL_REFUSED` with what was found.
 */
export async function checkSkill(
  { name, code, test }: Pick<SkillDraft, "name" | "code" | "test">,
  agent: Pick<Agent, "executeCode">,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const options = { signal, typeCheck: "before", session: `skill ${name}` } as const;
  // Strict, since other code compiles against it and its test may not reach every line.
  const reviewed = await agent.executeCode(toProgramCode(code), { ...options, typeCheck: "strict" });
  requireSuccess(name, "code", reviewed);
  const tested = await agent.executeCode(toProgramCode(test), options);
  requireSuccess(name, "test", tested);
  if (tested.value === false) throw refused(name, "its test returned false", tested);
}

function requireSuccess(name: string, part: "code" | "test", result: TaskResult): void {
  if (result.status === "success") return;
  const { code, message = result.status } = result.error ?? {};
  const isStrict = part === "code" && code === "CODE_MISTYPED";
  const strictly = isStrict ? ` ${STRICT}` : "";
  throw refused(name, `its ${part} failed: ${message}${strictly}`, result);
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
 * Fills a temporary skills folder as if a draft were saved, to try the draft.
 *
 * @param skillsDir - The folder of existing skills, which the draft may import.
 * @param folder - The folder to fill. Created if missing.
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
