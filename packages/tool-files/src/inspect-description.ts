import { isRecord } from "./schema-reader.ts";
import { excerptOf, findSuspiciousText, type TextFinding } from "./suspicious-text.ts";
import type { RawToolDefinition } from "./tool-definition.ts";

/** Limit of the text that is inspected in one definition. */
const MAX_CHARACTERS = 256 * 1024;
const MAX_FINDINGS = 20;

/** A text in a definition that a person should review before a model reads it. */
export interface DescriptionFinding extends TextFinding {
  /** The path in the definition, such as `inputSchema.properties.note.description`. */
  place: string;
}

/** Settings of {@link inspectDescription}. */
export interface InspectSettings {
  /**
   * Names of tools of other servers. A text that says to use one of them is a finding. Names that are plain words,
   * such as `search`, are ignored.
   */
  otherTools?: readonly string[] | undefined;
}

/**
 * Inspects every text of a definition (descriptions, parameter names, defaults, values) for signs of prompt injection
 * or hidden content. English only. A finding is a reason for review, not a proof, and no finding proves nothing.
 *
 * @returns at most about 20 findings.
 */
export function inspectDescription(
  definition: RawToolDefinition,
  { otherTools = [] }: InspectSettings = {},
): DescriptionFinding[] {
  const others = otherTools.filter(
    (name) => /[a-z0-9][_-][a-z0-9]|[a-z][A-Z]/.test(name) && name !== definition.name,
  );
  const findings = new Map<string, DescriptionFinding>();
  for (const { place, text } of textsOf(definition)) {
    const found = [...findSuspiciousText(text), ...findOtherTools(text, others)];
    for (const finding of found) {
      const key = `${finding.rule} ${finding.excerpt}`;
      if (!findings.has(key)) findings.set(key, { ...finding, place });
    }
    if (findings.size >= MAX_FINDINGS) break;
  }
  return [...findings.values()];
}

/** Every text of a definition, keys included, with its path. */
function* textsOf(definition: RawToolDefinition): Generator<{ place: string; text: string }> {
  const seen = new Set<unknown>();
  const pending: { place: string; value: unknown }[] = [{ place: "", value: definition }];
  let characters = 0;
  for (let next = pending.pop(); next !== undefined && characters < MAX_CHARACTERS; next = pending.pop()) {
    const { place, value } = next;
    if (typeof value === "string") {
      characters += value.length;
      yield { place, text: value.slice(0, MAX_CHARACTERS) };
    } else if (typeof value === "object" && value !== null && !seen.has(value)) {
      seen.add(value);
      for (const [key, entry] of Object.entries(value).toReversed()) {
        pending.push({ place: place === "" ? key : `${place}.${key}`, value: entry });
        if (isRecord(value)) pending.push({ place, value: key });
      }
    }
  }
}

const USE = String.raw`\b(?:use|using|call|calls|calling|called|invoke|invoking|invoked|run|running|instead of)\b`;

function findOtherTools(text: string, names: readonly string[]): TextFinding[] {
  for (const name of names) {
    const start = text.indexOf(name);
    if (start === -1) continue;
    const around = text.slice(Math.max(0, start - 80), start + name.length + 80);
    const isWhole = !/[\w-]/.test(text[start - 1] ?? "") && !/[\w-]/.test(text[start + name.length] ?? "");
    if (!isWhole || !new RegExp(USE, "i").test(around)) continue;
    return [
      {
        rule: "names-other-tool",
        message: `Tells the reader to use ${name}, a tool of another server.`,
        excerpt: excerptOf(text, start, name.length),
      },
    ];
  }
  return [];
}
