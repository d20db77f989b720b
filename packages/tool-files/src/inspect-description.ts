import { isKeywords } from "./schema-reader.ts";
import { excerptOf, findSuspiciousText, type TextFinding } from "./suspicious-text.ts";
import type { RawToolDefinition } from "./tool-definition.ts";

/** The most text looked at in one definition, in characters. */
const MAX_CHARACTERS = 256 * 1024;
const MAX_FINDINGS = 20;

/** Something in a definition that a person should look at before a model does. */
export interface DescriptionFinding extends TextFinding {
  /** Where: `description`, `inputSchema.properties.note.description`. */
  place: string;
}

export interface InspectSettings {
  /**
   * Names of tools of other servers. A description that says to use one of them is flagged. Names that are plain
   * words (`search`) are not looked for.
   */
  otherTools?: readonly string[] | undefined;
}

/**
 * Looks through every text of a definition (descriptions, names of parameters, defaults, values) for what gives
 * orders to a model. English only. What it finds is a reason to look, not a proof; finding nothing proves nothing.
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

/** Every text of a definition with its place, keys included. */
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
        if (isKeywords(value)) pending.push({ place, value: key });
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
        message: `Speaks of using ${name}, a tool of another server.`,
        excerpt: excerptOf(text, start, name.length),
      },
    ];
  }
  return [];
}
