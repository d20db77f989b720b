import { readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { CemError, type Skill, type ToolDefinition } from "@cem/core";
import { changedTools, parseToolDigests } from "./tool-digests.ts";
import { requireSkillName } from "./skill-draft.ts";
import { provenanceOf, versionOf } from "./skill-files.ts";
import { readSkillFolder, replaceSkillFolder, skillNames } from "./skill-folder.ts";
import type { SkillFiles, SkillFolder } from "./skill-folder.ts";

export type SkillStatus = Skill["status"];

const PROPOSALS = ".proposals";
const VERSIONS = ".versions";

/** The folders of a store: skills, proposals, earlier versions, and shared skills. */
export function createSkillFolders(skillsDir: string, sharedSkillsDir: string | undefined) {
  const folders: Readonly<Record<SkillStatus, string>> = {
    active: skillsDir,
    proposal: path.join(skillsDir, PROPOSALS),
  };
  const versionsDir = path.join(skillsDir, VERSIONS);
  const folderOf = (name: string, status: SkillStatus): string => path.join(folders[status], name);

  /** The names of all skills of a status, shared ones too. */
  const namesOf = async (status: SkillStatus): Promise<string[]> => {
    const own = await skillNames(folders[status]);
    const isShared = status === "active" && sharedSkillsDir !== undefined;
    return [...new Set([...own, ...(isShared ? await skillNames(sharedSkillsDir) : [])])];
  };

  const readFolder = async (name: string, status: SkillStatus): Promise<SkillFolder | undefined> => {
    // The name must be a single path segment. Skills from elsewhere may have names that our rules don't allow.
    const isOneFolder = name !== "" && name === path.basename(name) && !/^\.|\\/u.test(name);
    if (!isOneFolder) requireSkillName(name);
    return readSkillFolder(folderOf(name, status));
  };

  const read = async (name: string, status: SkillStatus, tools?: readonly ToolDefinition[]) => {
    const found = await readFolder(name, status);
    return found && toSkill(name, status, found, tools);
  };

  /** Completes replacements: a version with a dot is kept if its skill was replaced, and restored if that was interrupted. */
  const restore = async (): Promise<void> => {
    const active = new Set(await skillNames(skillsDir));
    for (const name of await skillNames(versionsDir)) {
      const versions = path.join(versionsDir, name);
      for (const aside of await readdir(versions)) {
        if (!/^\.\d+$/u.test(aside)) continue;
        const kept = path.join(versions, aside.slice(1));
        if (active.has(name)) await rm(kept, { recursive: true, force: true });
        const to = active.has(name) ? kept : path.join(skillsDir, name);
        await rename(path.join(versions, aside), to).catch(() => {});
      }
    }
  };

  return {
    namesOf,
    readFolder,
    read,
    restore,
    /** Reads an own skill, else a shared one. */
    async readAny(name: string, status: SkillStatus, tools?: readonly ToolDefinition[]) {
      const own = await read(name, status, tools);
      if (own !== undefined || status === "proposal" || sharedSkillsDir === undefined) return own;
      const found = await readSkillFolder(path.join(sharedSkillsDir, name));
      return found && toSkill(name, status, found, tools);
    },
    /** Saves a skill. The previous state of an active one is kept as a version. */
    async put(name: string, status: SkillStatus, files: SkillFiles): Promise<void> {
      const folder = folderOf(name, status);
      if (status === "proposal") return replaceSkillFolder(folder, files);
      const { version = 0 } = (await read(name, status)) ?? {};
      await replaceSkillFolder(folder, files, path.join(versionsDir, name, `.${version}`));
      await restore();
    },
    /** Removes a skill; an active one with its versions. */
    async remove(name: string, status: SkillStatus): Promise<void> {
      if (status === "active") await rm(path.join(versionsDir, name), { recursive: true, force: true });
      await rm(folderOf(name, status), { recursive: true, force: true });
    },
    /** The error that lists the existing skills. */
    async notFound(name: string, status: SkillStatus | undefined): Promise<CemError> {
      const known = [
        ...(status === "proposal" ? [] : await namesOf("active")),
        ...(status === "active" ? [] : await namesOf("proposal")),
      ];
      const what = status === "proposal" ? "proposal of a skill" : "skill";
      return new CemError("SKILL_NOT_FOUND", `There is no ${what} "${name}".`, {
        details: { skill: name, known },
      });
    },
  };
}

function toSkill(
  name: string,
  status: SkillStatus,
  { markdown, code, test }: SkillFolder,
  tools: readonly ToolDefinition[] | undefined,
): Skill {
  const digests = parseToolDigests(markdown.metadata["tools"] ?? "");
  return {
    name,
    description: markdown.description,
    status,
    version: versionOf(markdown.metadata),
    tools: [...digests.keys()],
    changedTools: tools === undefined ? [] : changedTools(digests, tools),
    provenance: provenanceOf(markdown.metadata),
    instructions: markdown.body,
    code,
    test,
  };
}
