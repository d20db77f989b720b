import { compactJson, TOO_LARGE } from "./canonical-json.ts";
import { isRecord, keywordsOf } from "./schema-reader.ts";
import { commentLine, harmlessInComment, quote } from "./safe-text.ts";

const MAX_DESCRIPTION_CHARACTERS = 240;
const MAX_DEFAULT_CHARACTERS = 60;
const MAX_FORMAT_CHARACTERS = 40;

/** The comment of a property on one line: description, format, range and default. Empty when there is none. */
export function memberComment(name: string, schema: unknown): string {
  if (!isRecord(schema)) return protoHint(name);
  const { deprecated, description, title, format, minimum, maximum, default: fallback } = keywordsOf(schema);
  const facts = [
    protoHint(name),
    deprecated === true ? "@deprecated" : "",
    descriptionFact(describedAs(name, description, title)),
    formatFact(format),
    rangeFact(minimum, maximum),
    defaultFact(fallback),
  ];
  return facts.filter((fact) => fact !== "").join(" ");
}

/** The description, or the title where it differs from the name. */
function describedAs(name: string, description: unknown, title: unknown): string {
  if (typeof description === "string") return description;
  return typeof title === "string" && lettersOf(title) !== lettersOf(name) ? title : "";
}

function lettersOf(text: string): string {
  return text.replaceAll(/[\s_-]+/g, "").toLowerCase();
}

function descriptionFact(text: string): string {
  return text === "" ? "" : sentence(commentLine(text, MAX_DESCRIPTION_CHARACTERS));
}

function formatFact(format: unknown): string {
  return typeof format === "string" && format !== ""
    ? `Format: ${commentLine(format, MAX_FORMAT_CHARACTERS)}.`
    : "";
}

function rangeFact(minimum: unknown, maximum: unknown): string {
  const isMaximum = typeof maximum === "number";
  if (typeof minimum === "number")
    return isMaximum ? `From ${minimum} to ${maximum}.` : `At least ${minimum}.`;
  return isMaximum ? `At most ${maximum}.` : "";
}

function defaultFact(value: unknown): string {
  if (value === undefined || value === null || value === "") return "";
  const json = compactJson(value, MAX_DEFAULT_CHARACTERS);
  if (json === TOO_LARGE) return "";
  return `Default: ${typeof value === "string" ? harmlessInComment(quote(value)) : commentLine(json, MAX_DEFAULT_CHARACTERS)}.`;
}

/** In an object literal, `__proto__: x` sets the prototype instead of a property. */
function protoHint(name: string): string {
  return name === "__proto__" ? 'Write it as ["__proto__"].' : "";
}

function sentence(text: string): string {
  return text === "" || /[.!?…:;。!?]$/u.test(text) ? text : `${text}.`;
}
