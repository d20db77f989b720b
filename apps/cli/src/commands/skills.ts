import type { Skill, SkillSummary } from "@cem/core";
import { renderCode } from "../render/value.ts";
import { renderRow } from "../render/rows.ts";
import { counted, INDENT, joined, oneLine, wrapIndented, type Style } from "../render/text.ts";
import { actionArgument, CODE_SETTINGS, serverSourceOf } from "../command/options.ts";
import { answer, defineCommand, needed } from "../command/define-command.ts";

const ACTIONS = ["list", "show", "test", "promote", "remove"] as const;
type Action = (typeof ACTIONS)[number];

export const skills = defineCommand<{ action: Action; name?: string | undefined }>({
  name: "skills",
  group: "runs",
  about: "List, test, promote and remove skills",
  help: `
A skill is a folder in skills/ with a SKILL.md and code that programs import as "./skills/<name>/index.ts". What a model
wrote is a proposal: nothing can import it before it is promoted. Before that it is reviewed, its types are checked, and its
index.test.ts is run in the sandbox; test does the same with any skill.

Examples:
  cem skills
  cem skills show double_number
  cem skills test report
  cem skills promote monthly_report`,
  settings: CODE_SETTINGS,
  declare: (command) => command.addArgument(actionArgument(ACTIONS, "list")).argument("[name]", "the skill"),
  async run({ action, name, options }, context) {
    const { listSkills, readSkill } = await import("code-execution-mcp/admin");
    const source = serverSourceOf(options, context);
    if (action === "list")
      return answer({
        data: { skills: await listSkills(source) },
        report: ({ skills }, style) => renderSkills(skills, style),
        brief: ({ skills }) => skills.map((skill) => skill.name).join("\n"),
      });
    const named = needed(name, `skills ${action}`, "the name of a skill");
    if (action === "show")
      return answer({
        data: { skill: await readSkill(named, source) },
        report: ({ skill }, style) => renderSkill(skill, style),
        brief: ({ skill }) => skill.code,
      });
    return answer({
      data: { name: await act(action, named, source) },
      report: (done, style) => ["", ...renderRow(DONE[action], oneLine(done.name), style)],
      brief: (done) => done.name,
    });
  },
});

/** The past participle of each action on one skill. */
const DONE = { test: "passed", promote: "promoted", remove: "removed" } as const;

async function act(action: keyof typeof DONE, name: string, source: ReturnType<typeof serverSourceOf>) {
  const { promoteSkill, removeSkill, testSkill } = await import("code-execution-mcp/admin");
  if (action === "remove") {
    await removeSkill(name, source);
    return name;
  }
  return (await (action === "test" ? testSkill : promoteSkill)(name, source)).name;
}

function renderSkills(skills: readonly SkillSummary[], style: Style): string[] {
  const { colors } = style;
  if (skills.length === 0)
    return ["", "  There are no skills here. A folder in skills/ with a SKILL.md is one."];
  const lines = skills.flatMap((skill) => [
    "",
    `${INDENT}${colors.bold(oneLine(skill.name))}${remarks(skill)}`,
    ...wrapIndented(oneLine(skill.description), `${INDENT}${INDENT}`, style.width),
    ...changes(skill, style),
  ]);
  const proposals = skills.filter(({ status }) => status === "proposal").length;
  const accepted = counted(skills.length - proposals, "skill");
  const counts = joined(accepted, proposals > 0 && counted(proposals, "proposal"));
  const next = proposals > 0 ? " cem skills promote <name> makes a proposal a skill." : "";
  return [...lines, "", colors.dim(`${INDENT}${counts}.${next}`)];
}

function renderSkill(skill: Skill, style: Style): string[] {
  const { provenance } = skill;
  const origin = joined(
    provenance && `by a ${provenance.author} at ${provenance.savedAt}`,
    provenance?.session && `in session ${provenance.session}`,
    provenance?.approvedBy && `approved by ${provenance.approvedBy}`,
  );
  const row = (label: string, text: string) => (text === "" ? [] : renderRow(label, oneLine(text), style));
  return [
    "",
    `${INDENT}${style.colors.bold(oneLine(skill.name))}${remarks(skill)}`,
    "",
    ...row("about", skill.description),
    ...row("origin", origin),
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
  const said = joined(version > 0 && `version ${version}`, status === "proposal" && status);
  return said === "" ? "" : `  ${said}`;
}

function changes({ changedTools, name }: SkillSummary, { colors }: Style): string[] {
  if (changedTools.length === 0) return [];
  const text = `changed since it was checked: ${changedTools.join(", ")}. See: cem skills test ${name}`;
  return [`${INDENT}${INDENT}${colors.yellow(oneLine(text))}`];
}
