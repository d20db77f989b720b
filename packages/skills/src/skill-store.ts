import { rename, rm } from "node:fs/promises";
import path from "node:path";
import { CemError } from "@cem/core";
import type {
  SaveSkillOptions,
  Skill,
  SkillDraft,
  SkillProvenance,
  SkillStatus,
  SkillStore,
  SkillSummary,
  ToolDefinition,
} from "@cem/core";
import { exportedNames, parseDraft, requireSkillName } from "./skill-draft.ts";
import type { ParsedDraft } from "./skill-draft.ts";
import { readSkillFolder, replaceSkillFolder, skillNames } from "./skill-folder.ts";
import type { SkillFolder } from "./skill-folder.ts";
import { readSkillFiles } from "./skill-files.ts";
import { toSkillFile } from "./skill-imports.ts";
import { formatSkillMarkdown } from "./skill-markdown.ts";
import { formatProvenance, provenanceOf, versionOf } from "./skill-provenance.ts";
import { changedTools, parseToolDigests, toolsUsedBy } from "./used-tools.ts";

const PROPOSALS = ".proposals";
const VERSIONS = ".versions";
const MAX_PROPOSALS = 100;
const STATUSES = ["active", "proposal"] as const;

export interface SkillStoreSettings {
  /** Absolute path of the folder with the skills. It is made when the first is saved. */
  skillsDir: string;
  /**
   * A folder of skills that are listed and read beside these, and never changed. One of `skillsDir` wins over one of the
   * same name.
   *
   * @defaultValue none
   */
  sharedSkillsDir?: string | undefined;
  /** Called after every change. */
  onChange?: (() => Promise<void>) | undefined;
}

/**
 * Creates a store that keeps skills as folders in the open format: `<name>/SKILL.md` with code and test beside it.
 * Proposals stand in `.proposals/`, earlier versions in `.versions/`; neither is found as a skill.
 */
export function createSkillStore(settings: SkillStoreSettings): SkillStore {
  return new FileSkillStore(settings);
}

class FileSkillStore implements SkillStore {
  readonly specificationVersion = "v1";
  readonly #folders: Readonly<Record<SkillStatus, string>>;
  readonly #versions: string;
  /** Changes run one after another. */
  #last: Promise<unknown> = Promise.resolve();

  readonly #shared: string | undefined;
  readonly #onChange: SkillStoreSettings["onChange"];

  constructor({ skillsDir, sharedSkillsDir, onChange }: SkillStoreSettings) {
    this.#shared = sharedSkillsDir;
    this.#onChange = onChange;
    this.#folders = { active: skillsDir, proposal: path.join(skillsDir, PROPOSALS) };
    this.#versions = path.join(skillsDir, VERSIONS);
  }

  async list({ tools }: { tools?: readonly ToolDefinition[] | undefined } = {}): Promise<SkillSummary[]> {
    await this.#recover();
    const all = await Promise.all(
      STATUSES.map(async (status) => {
        const names = await this.#namesOf(status);
        return Promise.all(names.map((name) => this.#readAny(name, status, tools)));
      }),
    );
    return all
      .flat()
      .filter((skill) => skill !== undefined)
      .map(({ code: _code, test: _test, instructions: _instructions, ...summary }) => summary)
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  async get(
    name: string,
    {
      status,
      tools,
    }: { status?: SkillStatus | undefined; tools?: readonly ToolDefinition[] | undefined } = {},
  ): Promise<Skill> {
    await this.#recover();
    for (const each of status === undefined ? STATUSES : [status]) {
      const skill = await this.#readAny(name, each, tools);
      if (skill !== undefined) return skill;
    }
    throw await this.#notFound(name, status);
  }

  async files(name: string): Promise<Record<string, Uint8Array>> {
    await this.#recover();
    requireSkillPath(name);
    for (const skillsDir of [this.#folders.active, this.#shared]) {
      if (skillsDir === undefined) continue;
      const folder = path.join(skillsDir, name);
      if ((await readSkillFolder(folder)) !== undefined) return readSkillFiles(name, folder);
    }
    throw await this.#notFound(name, "active");
  }

  save(
    draft: SkillDraft,
    {
      tools,
      author = "person",
      status = author === "model" ? "proposal" : "active",
      session,
    }: SaveSkillOptions & {
      tools: readonly ToolDefinition[];
    },
  ): Promise<Skill> {
    return this.#change(async () => {
      const parsed = parseDraft(draft, tools);
      const before = await this.#read(draft.name, status);
      const active = await this.#read(draft.name, "active");
      if (status === "proposal" && before === undefined) await this.#requireRoom(draft.name);
      const provenance: SkillProvenance = { author, savedAt: new Date().toISOString(), session };
      await this.#write(parsed, { status, provenance, version: (active?.version ?? 0) + 1, tools });
      return this.get(draft.name, { status, tools });
    });
  }

  promote(name: string, approvedBy: string): Promise<Skill> {
    return this.#change(async () => {
      const proposal = await this.get(name, { status: "proposal" });
      const folder = path.join(this.#folders.proposal, name);
      const read = await readSkillFolder(folder);
      if (read === undefined) throw await this.#notFound(name, "proposal");
      const version = ((await this.#read(name, "active"))?.version ?? 0) + 1;
      const approval = { approvedBy, approvedAt: new Date().toISOString() };
      const provenance: SkillProvenance = {
        author: "model",
        savedAt: "",
        ...proposal.provenance,
        ...approval,
      };
      const metadata = { ...read.markdown.metadata, ...formatProvenance(provenance, version) };
      const markdown = formatSkillMarkdown({ ...read.markdown, metadata });
      await this.#put(name, "active", { markdown, code: read.code, test: read.test });
      await rm(folder, { recursive: true, force: true });
      return this.get(name, { status: "active" });
    });
  }

  remove(name: string, { status }: { status?: SkillStatus | undefined } = {}): Promise<void> {
    return this.#change(async () => {
      const own = await Promise.all(
        (status === undefined ? STATUSES : [status]).map((each) => this.#read(name, each)),
      );
      if (own.every((skill) => skill === undefined)) throw await this.#notFound(name, status);
      if (status !== "active")
        await rm(path.join(this.#folders.proposal, name), { recursive: true, force: true });
      if (status === "proposal") return;
      // The versions go first: a skill whose versions alone are left counts as half replaced.
      await rm(path.join(this.#versions, name), { recursive: true, force: true });
      await rm(path.join(this.#folders.active, name), { recursive: true, force: true });
    });
  }

  async #write(
    { draft, code, test }: ParsedDraft,
    saved: {
      status: SkillStatus;
      provenance: SkillProvenance;
      version: number;
      tools: readonly ToolDefinition[];
    },
  ): Promise<void> {
    const used = toolsUsedBy(draft.code, saved.tools);
    const markdown = formatSkillMarkdown({
      name: draft.name,
      description: draft.description.trim(),
      metadata: formatProvenance(saved.provenance, saved.version, used),
      body: draft.instructions ?? instructionsFor(draft, exportedNames(code)),
    });
    await this.#put(draft.name, saved.status, { markdown, code: toSkillFile(code), test: toSkillFile(test) });
  }

  async #put(
    name: string,
    status: SkillStatus,
    files: { markdown: string; code: string; test: string },
  ): Promise<void> {
    const folder = path.join(this.#folders[status], name);
    if (status === "proposal") return replaceSkillFolder(folder, files);
    const { version = 0 } = (await this.#read(name, status)) ?? {};
    return replaceSkillFolder(folder, files, path.join(this.#versions, name, String(version)));
  }

  async #namesOf(status: SkillStatus): Promise<string[]> {
    const own = await skillNames(this.#folders[status]);
    const shared = status === "active" && this.#shared !== undefined ? await skillNames(this.#shared) : [];
    return [...new Set([...own, ...shared])];
  }

  /** Reads an own skill, else a shared one. */
  async #readAny(
    name: string,
    status: SkillStatus,
    tools?: readonly ToolDefinition[],
  ): Promise<Skill | undefined> {
    const own = await this.#read(name, status, tools);
    if (own !== undefined || status === "proposal" || this.#shared === undefined) return own;
    const read = await readSkillFolder(path.join(this.#shared, name));
    return read === undefined ? undefined : toSkill(name, status, read, tools);
  }

  async #read(
    name: string,
    status: SkillStatus,
    tools?: readonly ToolDefinition[],
  ): Promise<Skill | undefined> {
    requireSkillPath(name);
    const read = await readSkillFolder(path.join(this.#folders[status], name));
    return read === undefined ? undefined : toSkill(name, status, read, tools);
  }

  async #requireRoom(name: string): Promise<void> {
    const { length } = await skillNames(this.#folders.proposal);
    if (length < MAX_PROPOSALS) return;
    throw new CemError(
      "SKILL_INVALID",
      `${length} proposals wait already, the most that are kept. Promote or remove some before "${name}" is proposed.`,
      { details: { skill: name, proposals: length } },
    );
  }

  /** Puts the version before in place where a process was killed while it replaced a skill. */
  async #recover(): Promise<void> {
    const active = new Set(await skillNames(this.#folders.active));
    for (const name of await skillNames(this.#versions)) {
      if (active.has(name)) continue;
      const versions = await skillNames(path.join(this.#versions, name));
      const last = versions.toSorted((one, other) => Number(one) - Number(other)).at(-1);
      if (last === undefined) continue;
      const to = path.join(this.#folders.active, name);
      await rename(path.join(this.#versions, name, last), to).catch(() => {});
    }
  }

  async #notFound(name: string, status: SkillStatus | undefined): Promise<CemError> {
    const known = [
      ...(status === "proposal" ? [] : await this.#namesOf("active")),
      ...(status === "active" ? [] : await this.#namesOf("proposal")),
    ];
    const what = status === "proposal" ? "proposal of a skill" : "skill";
    return new CemError("SKILL_NOT_FOUND", `There is no ${what} "${name}".`, {
      details: { skill: name, known },
    });
  }

  #change<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(async () => {
      const result = await work();
      await this.#onChange?.();
      return result;
    });
    this.#last = next.catch(() => {});
    return next;
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

function instructionsFor({ name, description }: SkillDraft, names: readonly string[]): string {
  return [
    `# ${name}`,
    description.trim(),
    `\`\`\`ts\nimport { ${names.join(", ")} } from "./skills/${name}/index.ts";\n\`\`\``,
  ].join("\n\n");
}
