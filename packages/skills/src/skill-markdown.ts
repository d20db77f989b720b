import { parse, stringify } from "yaml";

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/** A SKILL.md. */
export interface SkillMarkdown {
  name: string;
  description: string;
  /** The front matter's `metadata`, as far as its values are texts or numbers. */
  metadata: Record<string, string>;
  /** Everything below the front matter. */
  body: string;
}

/** Reads a SKILL.md. What is missing, or not in YAML, is empty. */
export function parseSkillMarkdown(text: string): SkillMarkdown {
  const match = FRONT_MATTER.exec(text);
  const matter = toRecord(parseYaml(match?.[1] ?? ""));
  const metadata = toRecord(matter["metadata"]);
  return {
    name: textOf(matter["name"]),
    description: textOf(matter["description"]),
    metadata: Object.fromEntries(Object.entries(metadata).map(([key, value]) => [key, textOf(value)])),
    body: text.slice(match?.[0].length ?? 0).trim(),
  };
}

/** Writes a SKILL.md in the open format for skills: what is our own stands in `metadata`. */
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

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value).trim() : "";
}
