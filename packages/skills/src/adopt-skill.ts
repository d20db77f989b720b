import { existsSync } from "node:fs";
import { cp, lstat, readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import type { SkillDraft } from "@cem/core";
import { parseProgram } from "@cem/program";
import { invalid, requireSkillName } from "./skill-draft.ts";
import { codeFileOf, readSkillFolder } from "./skill-folder.ts";
import { requireSkillSize } from "./skill-files.ts";
import { toProgramCode, toSkillFile } from "./skill-imports.ts";

/** A skill's folder from elsewhere. */
export interface ForeignSkill {
  name: string;
  /** What can be tried. Absent where the skill has no code or no test. */
  draft?: SkillDraft | undefined;
}

/**
 * Reads a skill's folder from elsewhere, such as one of Claude's or Codex's.
 *
 * @throws CemError `SKILL_INVALID` where it has no SKILL.md, or a link, or is too large.
 */
export async function readSkillDraft(folder: string): Promise<ForeignSkill> {
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const name = path.basename(path.resolve(folder));
  if (!isFolder || !existsSync(path.join(folder, "SKILL.md"))) {
    throw invalid(name, `${folder} has no SKILL.md`);
  }
  await requirePlainFiles(folder, name);
  const read = await readSkillFolder(folder);
  const { markdown, code = "", test = "" } = read ?? {};
  const named = requireSkillName(markdown?.name === undefined || markdown.name === "" ? name : markdown.name);
  const description = markdown?.description ?? "";
  if (description === "") throw invalid(named, "its SKILL.md has no description");
  const isTried = code !== "" && test !== "";
  return {
    name: named,
    draft: isTried ? { name: named, description, code: toProgramCode(code), test } : undefined,
  };
}

/**
 * Copies a skill's folder to the others.
 *
 * @throws CemError `SKILL_INVALID` where a skill of that name is there already.
 */
export async function adoptSkillFolder(folder: string, skillsDir: string, name: string): Promise<void> {
  const to = path.join(skillsDir, requireSkillName(name));
  if (existsSync(to)) throw invalid(name, `there is a skill "${name}" already: remove it first`);
  await cp(folder, to, { recursive: true, errorOnExist: true, force: false });
  await writeImportsAsSkill(to);
}

/** Lets a skill's code import tools from where its file is: it was tried with the imports of a program. */
async function writeImportsAsSkill(folder: string): Promise<void> {
  const file = await codeFileOf(folder);
  if (file === undefined) return;
  const code = await readFile(file, "utf8");
  const parsed = parseProgram(code);
  const rewritten = parsed.ok ? toSkillFile(parsed.program) : code;
  if (rewritten !== code) await writeFile(file, rewritten);
}

/** A link could show the sandbox what lies outside; a huge folder is no skill. */
async function requirePlainFiles(folder: string, name: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  let bytes = 0;
  for (const entry of entries) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile()) bytes += (await lstat(file)).size;
    else if (!entry.isDirectory()) throw invalid(name, `${file} is a link or no plain file`);
  }
  requireSkillSize(name, entries.length, bytes);
}
