import { CemError } from "@cem/core";
import type { Agent, SkillDraft, TaskResult } from "@cem/core";
import { toProgramCode } from "./skill-imports.ts";

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
  const reviewed = await agent.executeCode(toProgramCode(code), options);
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
    `The skill "${name}" was not saved: ${reason.replace(/\.?$/u, ".")}${said}`,
    {
      details: { skill: name, code: error?.code },
    },
  );
}
