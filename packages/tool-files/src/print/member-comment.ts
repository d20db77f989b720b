import { isObject } from "@cem/core";
import { compactJson } from "../canonical-json.ts";
import { commentLine, harmlessInComment, quote } from "../safe-text.ts";
import { keywordsOf } from "../schema/keywords.ts";

const MAX_DESCRIPTION_CHARACTERS = 2_000;
const MAX_DEFAULT_CHARACTERS = 60;
const MAX_FORMAT_CHARACTERS = 40;
const MAX_PATTERN_CHARACTERS = 40;

/** The facts about a property that a call needs, as a short comment: `1–31, how many days, default 5`. */
export function memberComment(
  name: string,
  schema: unknown,
  maxDescriptionCharacters: number = MAX_DESCRIPTION_CHARACTERS,
): string {
  if (!isObject(schema)) return protoHint(name);
  const keywords = keywordsOf(schema);
  const { deprecated, description, title, type, format, pattern, default: fallback } = keywords;
  const isInteger = type === "integer";
  const facts = [
    protoHint(name),
    [isInteger ? "integer" : "", span(keywords["minimum"], keywords["maximum"])].join(" ").trim(),
    sized(span(keywords["minLength"], keywords["maxLength"]), "characters"),
    sized(span(keywords["minItems"], keywords["maxItems"]), "items"),
    typeof format === "string" ? commentLine(format, MAX_FORMAT_CHARACTERS) : "",
    typeof pattern === "string" && pattern.length <= MAX_PATTERN_CHARACTERS
      ? `matches ${commentLine(pattern, MAX_PATTERN_CHARACTERS)}`
      : "",
    briefDescription(describedAs(name, description, title), maxDescriptionCharacters),
    defaultFact(fallback),
  ];
  const words = facts
    .filter((fact) => fact !== "")
    .map((fact, at) =>
      at === 0 ? fact : fact.replace(/^\p{Lu}(?=\p{Ll}* )/u, (letter) => letter.toLowerCase()),
    )
    .join(", ");
  return deprecated === true ? `@deprecated ${words}`.trim() : words;
}

/** The description without its full stop, or its first sentence when it is longer than the limit. */
function briefDescription(text: string, limit: number): string {
  if (text.length <= limit) return commentLine(text, limit).replace(/[.:;]$/u, "");
  const [sentence = ""] = text.slice(0, limit * 4).split(/(?<=[.!?])\s+(?=\p{Lu})|\n\s*\n/u);
  return commentLine(sentence, limit).replace(/[.:;]$/u, "");
}

function span(least: unknown, most: unknown): string {
  const isMost = typeof most === "number" && Math.abs(most) < Number.MAX_SAFE_INTEGER;
  const isLeast = typeof least === "number" && Math.abs(least) < Number.MAX_SAFE_INTEGER;
  if (isLeast && isMost) return least === most ? `${least}` : `${least}–${most}`;
  if (isLeast) return `≥ ${least}`;
  return isMost ? `≤ ${most}` : "";
}

function sized(count: string, unit: string): string {
  return count === "" ? "" : `${count} ${unit}`;
}

function describedAs(name: string, description: unknown, title: unknown): string {
  if (typeof description === "string") return description;
  return typeof title === "string" && lettersOf(title) !== lettersOf(name) ? title : "";
}

function lettersOf(text: string): string {
  return text.replaceAll(/[\s_-]+/g, "").toLowerCase();
}

function defaultFact(value: unknown): string {
  if (value === undefined || value === null || value === "") return "";
  const json = compactJson(value, MAX_DEFAULT_CHARACTERS);
  if (json === undefined) return "";
  return `default ${typeof value === "string" ? harmlessInComment(quote(value)) : commentLine(json, MAX_DEFAULT_CHARACTERS)}`;
}

/** In an object literal, `__proto__: x` sets the prototype instead of a property. */
function protoHint(name: string): string {
  return name === "__proto__" ? 'write it as ["__proto__"]' : "";
}
