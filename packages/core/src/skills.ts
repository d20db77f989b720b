import type { ToolDefinition } from "./tools.ts";

/**
 * Whether a skill can be used. `active`: code can import it, and it is found like a tool. `proposal`: it waits for a
 * person to promote it, and nothing can import it.
 */
export type SkillStatus = "active" | "proposal";

/** Parts of a skill before it is checked and saved. */
export interface SkillDraft {
  /** The folder's name: lower-case letters, digits, `-` and `_`, at most 64 characters. */
  name: string;
  /** Purpose of the skill and when to use it, at most 1,024 characters. */
  description: string;
  /** TypeScript that exports functions. It imports tools as programs do: `./servers/<server>/index.ts`. */
  code: string;
  /** A program that imports the skill. It throws or has the value `false` when the skill is wrong. */
  test: string;
  /**
   * How to use the skill, in Markdown.
   *
   * @defaultValue the import of its functions
   */
  instructions?: string | undefined;
}

/** Where a skill comes from. */
export interface SkillProvenance {
  author: "person" | "model";
  /** When this version was saved, in ISO 8601. */
  savedAt: string;
  /** The session in which it was made. */
  session?: string | undefined;
  /** Name of the person who promoted it. */
  approvedBy?: string | undefined;
  /** When it was promoted, in ISO 8601. */
  approvedAt?: string | undefined;
}

/** A skill in a list. */
export interface SkillSummary {
  name: string;
  description: string;
  status: SkillStatus;
  /** Counts from 1. 0 for a skill that was not saved by a {@link SkillStore}. */
  version: number;
  /** The tools that its code imports, as `server.tool`. */
  tools: string[];
  /** The tools that are gone, or whose definition changed since the skill was checked. */
  changedTools: string[];
  /** Absent for a skill that was not saved by a {@link SkillStore}. */
  provenance?: SkillProvenance | undefined;
}

/** A skill with its files. */
export interface Skill extends SkillSummary {
  /** The text of its `SKILL.md` below the front matter. */
  instructions: string;
  /** Its `index.ts`. Empty for a skill that consists of instructions. */
  code: string;
  /** Its test. Empty when it has none. */
  test: string;
}

/** How a skill is saved. */
export interface SaveSkillOptions {
  /**
   * Status of the saved skill.
   *
   * @defaultValue `active` for a person's, `proposal` for a model's
   */
  status?: SkillStatus | undefined;
  /** @defaultValue `person` */
  author?: SkillProvenance["author"] | undefined;
  /** The session in which the skill was made. */
  session?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Keeps skills. */
export interface SkillStore {
  readonly specificationVersion: "v1";
  /**
   * Lists skills and proposals, by name.
   *
   * @param options - `tools`: the current tools, to fill in `changedTools`.
   */
  list(options?: { tools?: readonly ToolDefinition[] | undefined }): Promise<SkillSummary[]>;
  /**
   * Reads a skill or a proposal.
   *
   * @param options - `status` chooses between a skill and a proposal of the same name. Default: the skill, else the
   *   proposal.
   * @throws CemError `SKILL_NOT_FOUND`.
   */
  get(
    name: string,
    options?: { status?: SkillStatus | undefined; tools?: readonly ToolDefinition[] | undefined },
  ): Promise<Skill>;
  /**
   * Saves a skill, or a new version of it. The previous version is kept.
   *
   * @throws CemError `SKILL_INVALID` for an invalid draft.
   */
  save(draft: SkillDraft, options: SaveSkillOptions & { tools: readonly ToolDefinition[] }): Promise<Skill>;
  /**
   * Makes a proposal a skill.
   *
   * @param approvedBy - Name of the person who promotes it.
   * @throws CemError `SKILL_NOT_FOUND`.
   */
  promote(name: string, approvedBy: string): Promise<Skill>;
  /**
   * Removes a skill and its proposal, or one of them.
   *
   * @throws CemError `SKILL_NOT_FOUND`.
   */
  remove(name: string, options?: { status?: SkillStatus | undefined }): Promise<void>;
}
