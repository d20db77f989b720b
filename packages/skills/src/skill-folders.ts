import { readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { CemError } from "@cem/core";
import type { Skill, ToolDefinition } from "@cem/core";
import { changedTools, parseToolDigests } from "./tool-digests.ts";
import { requireSkillName } from "./skill-draft.ts";
import { provenanceOf, versionOf } from "./skill-files.ts";
import { readSkillFolder, replaceSkillFolder, skillNames } from "./skill-folder.ts";
import type { SkillFiles, SkillFolder } from "./skill-folder.ts";

/** Whether a skill is used or waits to be. */
export type SkillStatus = Skill["status"];

const PROPOSALS = ".proposals";
const VERSIONS = ".versions";

/** The folders of a store: of skills, of proposals, of earlier versions, and of skills that others share. */
export class SkillFolders {
  readonly #folders: Readonly<Record<SkillStatus, string>>;
  readonly #versions: string;
  readonly #shared: string | undefined;

  constructor(skillsDir: string, sharedSkillsDir: string | undefined) {
    this.#shared = sharedSkillsDir;
    this.#folders = { active: skillsDir, proposal: path.join(skillsDir, PROPOSALS) };
    this.#versions = path.join(skillsDir, VERSIONS);
  }

  /** The names of all skills of a status, shared ones too. */
  async namesOf(status: SkillStatus): Promise<string[]> {
    const own = await skillNames(this.#folders[status]);
    const shared = status === "active" && this.#shared !== undefined ? await skillNames(this.#shared) : [];
    return [...new Set([...own, ...shared])];
  }

  /** Reads an own skill, else a shared one. */
  async readAny(
    name: string,
    status: SkillStatus,
    tools?: readonly ToolDefinition[],
  ): Promise<Skill | undefined> {
    const own = await this.read(name, status, tools);
    if (own !== undefined || status === "proposal" || this.#shared === undefined) return own;
    const read = await readSkillFolder(path.join(this.#shared, name));
    return read === undefined ? undefined : toSkill(name, status, read, tools);
  }

  /** Reads an own skill. */
  async read(
    name: string,
    status: SkillStatus,
    tools?: readonly ToolDefinition[],
  ): Promise<Skill | undefined> {
    const read = await this.readFolder(name, status);
    return read === undefined ? undefined : toSkill(name, status, read, tools);
  }

  /** Reads the folder of an own skill. */
  async readFolder(name: string, status: SkillStatus): Promise<SkillFolder | undefined> {
    requireSkillPath(name);
    return readSkillFolder(this.#folderOf(name, status));
  }

  /** Puts a skill in place. What an active one was before is kept as a version. */
  async put(name: string, status: SkillStatus, files: SkillFiles): Promise<void> {
    const folder = this.#folderOf(name, status);
    if (status === "proposal") return replaceSkillFolder(folder, files);
    const { version = 0 } = (await this.read(name, status)) ?? {};
    await replaceSkillFolder(folder, files, path.join(this.#versions, name, `.${version}`));
    await this.restore();
  }

  /** Removes a skill; an active one with its versions. */
  async remove(name: string, status: SkillStatus): Promise<void> {
    if (status === "active") await rm(path.join(this.#versions, name), { recursive: true, force: true });
    await rm(this.#folderOf(name, status), { recursive: true, force: true });
  }

  /**
   * Takes the dot off the names of versions whose skills were replaced. Where a process was killed meanwhile, they are put
   * in place again; a skill that someone deleted stays deleted.
   */
  async restore(): Promise<void> {
    const active = new Set(await skillNames(this.#folders.active));
    for (const name of await skillNames(this.#versions)) {
      const versions = path.join(this.#versions, name);
      for (const aside of await readdir(versions)) {
        if (!/^\.\d+$/u.test(aside)) continue;
        const kept = path.join(versions, aside.slice(1));
        if (active.has(name)) await rm(kept, { recursive: true, force: true });
        const to = active.has(name) ? kept : path.join(this.#folders.active, name);
        await rename(path.join(versions, aside), to).catch(() => {});
      }
    }
  }

  /** The error that lists the existing skills. */
  async notFound(name: string, status: SkillStatus | undefined): Promise<CemError> {
    const known = [
      ...(status === "proposal" ? [] : await this.namesOf("active")),
      ...(status === "active" ? [] : await this.namesOf("proposal")),
    ];
    const what = status === "proposal" ? "proposal of a skill" : "skill";
    return new CemError("SKILL_NOT_FOUND", `There is no ${what} "${name}".`, {
      details: { skill: name, known },
    });
  }

  #folderOf(name: string, status: SkillStatus): string {
    return path.join(this.#folders[status], name);
  }
}

/** A name that stands for one folder: skills from elsewhere need not have names of ours. */
function requireSkillPath(name: string): void {
  const isOneFolder = name !== "" && name === path.basename(name) && !/^\.|\\/u.test(name);
  if (!isOneFolder) requireSkillName(name);
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
