import type { Skill, SkillSummary } from "@cem/core";
import type { LearnedSkills } from "code-execution-mcp/admin";
import { renderCode } from "./render-code.ts";
import { renderRow } from "./render-rows.ts";
import { oneLine } from "./safe-text.ts";
import { counted, wrapIndented } from "./text-layout.ts";
import type { Style } from "./text-layout.ts";

const INDENT = "  ";

/** Renders skills, and what is to be done about some of them. */
export function renderSkills(skills: readonly SkillSummary[], style: Style): string[] {
  const { colors } = style;
  if (skills.length === 0)
    return ["", "  There are no skills here. Add a folder with a SKILL.md: cem skills add <folder>"];
  const lines = skills.flatMap((skill) => [
    "",
    `${INDENT}${colors.bold(oneLine(skill.name))}${remarks(skill)}`,
    ...wrapIndented(oneLine(skill.description), `${INDENT}${INDENT}`, style.width),
    ...changes(skill, style),
  ]);
  const proposals = skills.filter(({ status }) => status === "proposal").length;
  const counts = [
    counted(skills.length - proposals, "skill"),
    ...(proposals > 0 ? [counted(proposals, "proposal")] : []),
  ].join(", ");
  const next = proposals > 0 ? " cem skills promote <name> makes a proposal a skill." : "";
  return [...lines, "", colors.dim(`${INDENT}${counts}.${next}`)];
}

/** Renders what was learned of a session's runs. */
export function renderLearned({ proposed, skipped }: LearnedSkills, style: Style): string[] {
  const rows = [
    ...proposed.flatMap(({ name }) => renderRow("proposed", oneLine(name), style)),
    ...skipped.flatMap(({ task, reason }) => renderRow("skipped", oneLine(`${task}: ${reason}`), style)),
  ];
  const next = "cem skills promote <name> makes a proposal a skill.";
  return ["", ...rows, ...(proposed.length === 0 ? [] : ["", style.colors.dim(`${INDENT}${next}`)])];
}

/** Renders one skill with its code. */
export function renderSkill(skill: Skill, style: Style): string[] {
  const { provenance } = skill;
  const origin = [
    provenance === undefined ? "" : `by a ${provenance.author} at ${provenance.savedAt}`,
    provenance?.session === undefined ? "" : `in session ${provenance.session}`,
    provenance?.approvedBy === undefined ? "" : `approved by ${provenance.approvedBy}`,
  ].filter((part) => part !== "");
  const row = (label: string, text: string): string[] =>
    text === "" ? [] : renderRow(label, oneLine(text), style);
  return [
    "",
    `${INDENT}${style.colors.bold(oneLine(skill.name))}${remarks(skill)}`,
    "",
    ...row("about", skill.description),
    ...row("origin", origin.join(", ")),
    ...row("tools", skill.tools.join(", ")),
    ...changes(skill, style),
    ...codeBlock("code", skill.code, style),
    ...codeBlock("test", skill.test, style),
  ];
}

function codeBlock(label: string, code: string, style: Style): string[] {
  return code === "" ? [] : ["", `${INDENT}${label}`, ...renderCode(code, style, true)];
}

function remarks({ status, version }: SkillSummary): string {
  const said = [
    ...(version > 0 ? [`version ${version}`] : []),
    ...(status === "proposal" ? ["proposal"] : []),
  ];
  return said.length === 0 ? "" : `  ${said.join(", ")}`;
}

function changes({ changedTools, name }: SkillSummary, { colors }: Style): string[] {
  if (changedTools.length === 0) return [];
  const text = `changed since it was checked: ${changedTools.join(", ")}. See: cem skills test ${name}`;
  return [`${INDENT}${INDENT}${colors.yellow(oneLine(text))}`];
}
