import path from "node:path";
import { CemError } from "@cem/core";
import {
  addSkill,
  learnSkills,
  listSkills,
  promoteSkill,
  readSkill,
  removeSkill,
  testSkill,
} from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { serverSourceOf } from "../config-source.ts";
import { EXIT_OK } from "../exit-codes.ts";
import type { InvocationOf, SkillAction } from "../invocation.ts";
import { renderLearned, renderSkill, renderSkills } from "../render-skills.ts";
import { renderRow } from "../render-rows.ts";
import { oneLine, safeData } from "../safe-text.ts";

/** What each action on one skill is called, once it is done. */
const DONE = { add: "added", test: "passed", promote: "promoted", remove: "removed" } as const;

/** What an action takes in place of a skill's name. */
const WANTED: Partial<Record<SkillAction, string>> = {
  add: "the folder of a skill",
  learn: "a session, such as session_001 or last",
};

/** `cem skills`: lists skills, or does something with one. */
export async function manageSkills(
  { action, name, options }: InvocationOf<"skills">,
  context: CommandContext,
): Promise<Answer> {
  const source = serverSourceOf(options, context);
  if (action === "list") {
    const skills = await listSkills(source);
    const safe = safeData(skills);
    return {
      exitCode: EXIT_OK,
      data: { status: "success", skills },
      report: (style) => renderSkills(safe, style),
      brief: () => safe.map((skill) => skill.name).join("\n"),
    };
  }
  const named = requireName(action, name);
  if (action === "show") {
    const skill = await readSkill(named, source);
    const safe = safeData(skill);
    return {
      exitCode: EXIT_OK,
      data: { status: "success", skill },
      report: (style) => renderSkill(safe, style),
      brief: () => skill.code,
    };
  }
  if (action === "learn") {
    const learned = await learnSkills(named, source);
    const safe = safeData(learned);
    return {
      exitCode: EXIT_OK,
      data: { status: "success", ...learned },
      report: (style) => renderLearned(safe, style),
      brief: () => safe.proposed.map((skill) => skill.name).join("\n"),
    };
  }
  const done = await act(action, named, source);
  return {
    exitCode: EXIT_OK,
    data: { status: "success", name: done },
    report: (style) => ["", ...renderRow(DONE[action], oneLine(done), style)],
    brief: () => done,
  };
}

async function act(
  action: keyof typeof DONE,
  name: string,
  source: ReturnType<typeof serverSourceOf>,
): Promise<string> {
  if (action === "remove") {
    await removeSkill(name, source);
    return name;
  }
  if (action === "add") return (await addSkill(path.resolve(name), source)).name;
  return (await (action === "test" ? testSkill : promoteSkill)(name, source)).name;
}

/** @throws CemError `USAGE` */
function requireName(action: SkillAction, name: string | undefined): string {
  if (name !== undefined) return name;
  const what = WANTED[action] ?? "the name of a skill";
  throw new CemError("USAGE", `cem skills ${action} needs ${what}. See: cem skills --help`);
}
