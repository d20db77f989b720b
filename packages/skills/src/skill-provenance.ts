import type { Skill, ToolDefinition } from "@cem/core";
import { formatToolDigests } from "./used-tools.ts";

type SkillProvenance = NonNullable<Skill["provenance"]>;

/** The keys of a SKILL.md's `metadata` that hold what a store knows of a skill. */
const KEYS = {
  author: "author",
  savedAt: "saved-at",
  session: "session",
  approvedBy: "approved-by",
  approvedAt: "approved-at",
} as const;

/** The version that metadata names; 0 where it names none. */
export function versionOf(metadata: Readonly<Record<string, string>>): number {
  const version = Number(metadata["version"]);
  return Number.isSafeInteger(version) && version > 0 ? version : 0;
}

/** Reads the provenance from metadata. Absent where the skill was saved by no store. */
export function provenanceOf(metadata: Readonly<Record<string, string>>): SkillProvenance | undefined {
  const { [KEYS.author]: author, [KEYS.savedAt]: savedAt } = metadata;
  if ((author !== "person" && author !== "model") || savedAt === undefined) return undefined;
  return {
    author,
    savedAt,
    session: metadata[KEYS.session],
    approvedBy: metadata[KEYS.approvedBy],
    approvedAt: metadata[KEYS.approvedAt],
  };
}

/**
 * Writes the provenance as metadata.
 *
 * @param tools - The tools that the code uses. Absent: what the metadata had stays.
 */
export function formatProvenance(
  provenance: SkillProvenance,
  version: number,
  tools?: readonly ToolDefinition[],
): Record<string, string> {
  const entries = Object.entries(KEYS).flatMap(([key, written]) => {
    const value = provenance[key as keyof SkillProvenance];
    return value === undefined ? [] : [[written, value] as const];
  });
  const digests = tools === undefined || tools.length === 0 ? {} : { tools: formatToolDigests(tools) };
  return { version: String(version), ...Object.fromEntries(entries), ...digests };
}
