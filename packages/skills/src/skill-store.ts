import { CemError, createTurns, type Skill, type SkillDraft, type SkillStore } from "@cem/core";
import { toolsUsedBy } from "./tool-digests.ts";
import { exportedNames, parseDraft, toProgramCode, toSkillFile } from "./skill-draft.ts";
import { formatProvenance, formatSkillMarkdown, type SkillProvenance } from "./skill-files.ts";
import { createSkillFolders } from "./skill-folders.ts";

const MAX_PROPOSALS = 100;
const STATUSES = ["active", "proposal"] as const;

export interface SkillStoreSettings {
  /** Absolute path of the folder of skills. Created when the first is saved. */
  skillsDir: string;
  /**
   * A folder of further skills, which are listed and read but never changed. A skill in `skillsDir` takes precedence over
   * one of the same name.
   *
   * @defaultValue none
   */
  sharedSkillsDir?: string | undefined;
  /** Called after every change. */
  onChange?: (() => Promise<void>) | undefined;
}

/**
 * Creates a store that keeps skills as folders in the open format: `<name>/SKILL.md` with code and test beside it.
 * Proposals are in `.proposals/`, earlier versions in `.versions/`; neither is listed as a skill.
 */
export function createSkillStore({ skillsDir, sharedSkillsDir, onChange }: SkillStoreSettings): SkillStore {
  const folders = createSkillFolders(skillsDir, sharedSkillsDir);
  const inTurn = createTurns();

  /** Changes run one after another. */
  const change = <T>(work: () => Promise<T>): Promise<T> =>
    inTurn(async () => {
      const result = await work();
      await onChange?.();
      return result;
    });

  const get: SkillStore["get"] = async (name, { status, tools } = {}): Promise<Skill> => {
    await folders.restore();
    for (const each of status === undefined ? STATUSES : [status]) {
      const skill = await folders.readAny(name, each, tools);
      if (skill !== undefined) return skill;
    }
    throw await folders.notFound(name, status);
  };

  /** The version number for the next save of a skill. */
  const nextVersion = async (name: string): Promise<number> =>
    ((await folders.read(name, "active"))?.version ?? 0) + 1;

  /** A pending proposal is not overwritten: a person may have reviewed it and would then promote a different one. */
  const requirePlace = async (name: string, proposed: SkillText): Promise<void> => {
    const waiting = await folders.read(name, "proposal");
    if (waiting !== undefined) {
      if (textOf(waiting) === textOf(proposed)) return;
      const reason = `A proposal "${name}" waits that is another. It stays until a person promotes or removes it: take another name.`;
      throw new CemError("SKILL_INVALID", reason, { details: { skill: name } });
    }
    const { length } = await folders.namesOf("proposal");
    if (length < MAX_PROPOSALS) return;
    throw new CemError(
      "SKILL_INVALID",
      `${length} proposals wait already, the most that are kept. Promote or remove some before "${name}" is proposed.`,
      { details: { skill: name, proposals: length } },
    );
  };

  return {
    specificationVersion: "v1",
    async list({ tools } = {}) {
      await folders.restore();
      const all = await Promise.all(
        STATUSES.map(async (status) => {
          const names = await folders.namesOf(status);
          return Promise.all(names.map((name) => folders.readAny(name, status, tools)));
        }),
      );
      return all
        .flat()
        .filter((skill) => skill !== undefined)
        .map(({ code: _code, test: _test, instructions: _instructions, ...summary }) => summary)
        .toSorted((one, other) => (one.name < other.name ? -1 : 1));
    },
    get,
    save: (
      draft,
      { tools, author = "person", status = author === "model" ? "proposal" : "active", session },
    ) =>
      change(async () => {
        const { code, test } = parseDraft(draft, tools);
        const { name } = draft;
        const files = { code: toSkillFile(code), test: toSkillFile(test) };
        const description = draft.description.trim();
        const body = draft.instructions ?? instructionsFor(draft, exportedNames(code));
        if (status === "proposal") await requirePlace(name, { description, instructions: body, ...files });
        const provenance: SkillProvenance = { author, savedAt: new Date().toISOString(), session };
        const used = toolsUsedBy(code.code, tools);
        const metadata = formatProvenance(provenance, await nextVersion(name), used);
        const markdown = formatSkillMarkdown({ name, description, metadata, body });
        await folders.put(name, status, { markdown, ...files });
        return get(name, { status, tools });
      }),
    promote: (name, approvedBy) =>
      change(async () => {
        const { provenance: proposed } = await get(name, { status: "proposal" });
        const read = await folders.readFolder(name, "proposal");
        if (read === undefined) throw await folders.notFound(name, "proposal");
        const approval = { approvedBy, approvedAt: new Date().toISOString() };
        const provenance: SkillProvenance = { author: "model", savedAt: "", ...proposed, ...approval };
        const approved = formatProvenance(provenance, await nextVersion(name));
        const metadata = { ...read.markdown.metadata, ...approved };
        const markdown = formatSkillMarkdown({ ...read.markdown, metadata });
        await folders.put(name, "active", { markdown, code: read.code, test: read.test });
        await folders.remove(name, "proposal");
        return get(name, { status: "active" });
      }),
    remove: (name, { status } = {}) =>
      change(async () => {
        const own = await Promise.all(
          (status === undefined ? STATUSES : [status]).map((each) => folders.read(name, each)),
        );
        if (own.every((skill) => skill === undefined)) throw await folders.notFound(name, status);
        if (status !== "active") await folders.remove(name, "proposal");
        if (status !== "proposal") await folders.remove(name, "active");
      }),
  };
}

type SkillText = Pick<Skill, "description" | "instructions" | "code" | "test">;

/** Everything a person sees of a skill, regardless of how its imports are written. */
function textOf({ description, instructions, code, test }: SkillText): string {
  return JSON.stringify([description.trim(), instructions.trim(), toProgramCode(code), toProgramCode(test)]);
}

function instructionsFor({ name, description }: SkillDraft, names: readonly string[]): string {
  return [
    `# ${name}`,
    description.trim(),
    `\`\`\`ts\nimport { ${names.join(", ")} } from "./skills/${name}/index.ts";\n\`\`\``,
  ].join("\n\n");
}
