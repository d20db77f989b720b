import { CemError, createTurns } from "@cem/core";
import type {
  SaveSkillOptions,
  Skill,
  SkillDraft,
  SkillStore,
  SkillSummary,
  ToolDefinition,
} from "@cem/core";
import { toolsUsedBy } from "./tool-digests.ts";
import { exportedNames, parseDraft, toSkillFile } from "./skill-draft.ts";
import type { ParsedDraft } from "./skill-draft.ts";
import { formatProvenance, formatSkillMarkdown } from "./skill-files.ts";
import { SkillFolders } from "./skill-folders.ts";
import type { SkillStatus } from "./skill-folders.ts";
import type { SkillProvenance } from "./skill-files.ts";

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
  readonly #folders: SkillFolders;
  readonly #onChange: SkillStoreSettings["onChange"];
  readonly #inTurn = createTurns();

  constructor({ skillsDir, sharedSkillsDir, onChange }: SkillStoreSettings) {
    this.#folders = new SkillFolders(skillsDir, sharedSkillsDir);
    this.#onChange = onChange;
  }

  async list({ tools }: { tools?: readonly ToolDefinition[] | undefined } = {}): Promise<SkillSummary[]> {
    await this.#folders.restore();
    const all = await Promise.all(
      STATUSES.map(async (status) => {
        const names = await this.#folders.namesOf(status);
        return Promise.all(names.map((name) => this.#folders.readAny(name, status, tools)));
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
    await this.#folders.restore();
    for (const each of status === undefined ? STATUSES : [status]) {
      const skill = await this.#folders.readAny(name, each, tools);
      if (skill !== undefined) return skill;
    }
    throw await this.#folders.notFound(name, status);
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
      const before = await this.#folders.read(draft.name, status);
      const active = await this.#folders.read(draft.name, "active");
      if (status === "proposal" && before === undefined) await this.#requireRoom(draft.name);
      const provenance: SkillProvenance = { author, savedAt: new Date().toISOString(), session };
      await this.#write(parsed, { status, provenance, version: (active?.version ?? 0) + 1, tools });
      return this.get(draft.name, { status, tools });
    });
  }

  promote(name: string, approvedBy: string): Promise<Skill> {
    return this.#change(async () => {
      const proposal = await this.get(name, { status: "proposal" });
      const read = await this.#folders.readFolder(name, "proposal");
      if (read === undefined) throw await this.#folders.notFound(name, "proposal");
      const version = ((await this.#folders.read(name, "active"))?.version ?? 0) + 1;
      const approval = { approvedBy, approvedAt: new Date().toISOString() };
      const provenance: SkillProvenance = {
        author: "model",
        savedAt: "",
        ...proposal.provenance,
        ...approval,
      };
      const metadata = { ...read.markdown.metadata, ...formatProvenance(provenance, version) };
      const markdown = formatSkillMarkdown({ ...read.markdown, metadata });
      await this.#folders.put(name, "active", { markdown, code: read.code, test: read.test });
      await this.#folders.remove(name, "proposal");
      return this.get(name, { status: "active" });
    });
  }

  remove(name: string, { status }: { status?: SkillStatus | undefined } = {}): Promise<void> {
    return this.#change(async () => {
      const own = await Promise.all(
        (status === undefined ? STATUSES : [status]).map((each) => this.#folders.read(name, each)),
      );
      if (own.every((skill) => skill === undefined)) throw await this.#folders.notFound(name, status);
      if (status !== "active") await this.#folders.remove(name, "proposal");
      if (status !== "proposal") await this.#folders.remove(name, "active");
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
    await this.#folders.put(draft.name, saved.status, {
      markdown,
      code: toSkillFile(code),
      test: toSkillFile(test),
    });
  }

  async #requireRoom(name: string): Promise<void> {
    const { length } = await this.#folders.namesOf("proposal");
    if (length < MAX_PROPOSALS) return;
    throw new CemError(
      "SKILL_INVALID",
      `${length} proposals wait already, the most that are kept. Promote or remove some before "${name}" is proposed.`,
      { details: { skill: name, proposals: length } },
    );
  }

  /** Changes run one after another. */
  #change<T>(work: () => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      const result = await work();
      await this.#onChange?.();
      return result;
    });
  }
}

function instructionsFor({ name, description }: SkillDraft, names: readonly string[]): string {
  return [
    `# ${name}`,
    description.trim(),
    `\`\`\`ts\nimport { ${names.join(", ")} } from "./skills/${name}/index.ts";\n\`\`\``,
  ].join("\n\n");
}
