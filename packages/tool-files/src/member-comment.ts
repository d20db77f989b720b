import { compactJson, TOO_LARGE } from "./canonical-json.ts";
import { isKeywords, type Keywords, own } from "./schema-reader.ts";
import { commentLine, harmlessInComment, quote } from "./safe-text.ts";

const MAX_DESCRIPTION_CHARACTERS = 240;
const MAX_DEFAULT_CHARACTERS = 60;
const MAX_FORMAT_CHARACTERS = 40;

/** The comment of a property on one line: description, format, range and default. Empty when there is none. */
export function memberComment(name: string, schema: unknown): string {
  let comment = protoHint(name);
  const say = (fact: string): void => {
    if (fact !== "") comment += comment === "" ? fact : ` ${fact}`;
  };
  if (!isKeywords(schema)) return comment;
  if (own(schema, "deprecated") === true) say("@deprecated");
  say(sentence(commentLine(describedAs(name, schema), MAX_DESCRIPTION_CHARACTERS)));
  say(formatFact(own(schema, "format")));
  say(rangeFact(own(schema, "minimum"), own(schema, "maximum")));
  say(defaultFact(own(schema, "default")));
  return comment;
}

/** The description, or the title where it differs from the name. */
function describedAs(name: string, schema: Keywords): string {
  const [description, title] = [own(schema, "description"), own(schema, "title")];
  if (typeof description === "string") return description;
  return typeof title === "string" && lettersOf(title) !== lettersOf(name) ? title : "";
}

function lettersOf(text: string): string {
  return text.replaceAll(/[\s_-]+/g, "").toLowerCase();
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
