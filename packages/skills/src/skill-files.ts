import { isObject, type Skill, type ToolDefinition } from "@cem/core";
import { parse, stringify } from "yaml";
import { formatToolDigests } from "./tool-digests.ts";

/** By whom and when a skill was saved. */
export type SkillProvenance = NonNullable<Skill["provenance"]>;

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

export interface SkillMarkdown {
  name: string;
  description: string;
  /** The front matter's `metadata`, limited to values that are texts or numbers. */
  metadata: Record<string, string>;
  body: string;
}

/** Parses a SKILL.md. Missing parts and invalid YAML are empty. */
export function parseSkillMarkdown(text: string): SkillMarkdown {
  const match = FRONT_MATTER.exec(text);
  const parsed = parseYaml(match?.[1] ?? "");
  const matter = isObject(parsed) ? parsed : {};
  const metadata = isObject(matter["metadata"]) ? matter["metadata"] : {};
  return {
    name: textOf(matter["name"]),
    description: textOf(matter["description"]),
    metadata: Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, textOf(value)])),
    body: text.slice(match?.[0].length ?? 0).trim(),
  };
}

/** Writes a SKILL.md in the open format for skills, with our own fields in `metadata`. */
export function formatSkillMarkdown({ name, description, metadata, body }: SkillMarkdown): string {
  const matter = stringify({ name, description, metadata }, { lineWidth: 0 });
  return `---\n${matter}---\n\n${body.trim()}\n`;
}

function parseYaml(yaml: string): unknown {
  try {
    return parse(yaml, { maxAliasCount: 0 });
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value).trim() : "";
}

/** The keys of a SKILL.md's `metadata` for a store's own fields. */
const KEYS = {
  author: "author",
  savedAt: "saved-at",
  session: "session",
  approvedBy: "approved-by",
  approvedAt: "approved-at",
} as const;

/** The version in metadata; 0 if there is none. */
export function versionOf(metadata: Readonly<Record<string, string>>): number {
  const version = Number(metadata["version"]);
  return Number.isSafeInteger(version) && version > 0 ? version : 0;
}

/** Reads the provenance from metadata. Absent if the skill was not saved by a store. */
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

/** Writes the provenance as metadata. Without tools, those in the metadata are kept. */
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
