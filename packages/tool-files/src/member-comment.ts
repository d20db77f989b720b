import { compactJson, TOO_LARGE } from "./canonical-json.ts";
import { isKeywords, own } from "./schema-reader.ts";
import { commentLine, commentText, quote } from "./safe-text.ts";

const MAX_DESCRIPTION_CHARACTERS = 240;
const MAX_DEFAULT_CHARACTERS = 60;
const MAX_FORMAT_CHARACTERS = 40;

/** What a comment says about a property: description, format, range and default, on one line. */
export function memberComment(name: string, schema: unknown): string {
  if (!isKeywords(schema)) return protoHint(name);
  const description = own(schema, "description") ?? own(schema, "title");
  if (Object.keys(schema).length === 1 && typeof schema["type"] === "string") return protoHint(name);
  const facts = [
    own(schema, "deprecated") === true ? "@deprecated" : "",
    typeof description === "string" ? sentence(commentLine(description, MAX_DESCRIPTION_CHARACTERS)) : "",
    formatFact(own(schema, "format")),
    rangeFact(own(schema, "minimum"), own(schema, "maximum")),
    defaultFact(own(schema, "default")),
    protoHint(name),
  ];
  return facts.filter((fact) => fact !== "").join(" ");
}

function formatFact(format: unknown): string {
  return typeof format === "string" && format !== ""
    ? `Format: ${commentLine(format, MAX_FORMAT_CHARACTERS)}.`
    : "";
}

function rangeFact(minimum: unknown, maximum: unknown): string {
  const [from, to] = [minimum, maximum].map((bound) => (typeof bound === "number" ? String(bound) : ""));
  if (from !== "" && to !== "") return `From ${from} to ${to}.`;
  if (from !== "") return `At least ${from}.`;
  return to === "" ? "" : `At most ${to}.`;
}

function defaultFact(value: unknown): string {
  if (value === undefined || value === null || value === "") return "";
  const json = compactJson(value, MAX_DEFAULT_CHARACTERS);
  if (json === TOO_LARGE) return "";
  return `Default: ${typeof value === "string" ? commentText(quote(value)) : commentLine(json, MAX_DEFAULT_CHARACTERS)}.`;
}

/** In an object literal `__proto__: x` sets the prototype instead of a property. */
function protoHint(name: string): string {
  return name === "__proto__" ? 'Write it as ["__proto__"].' : "";
}

function sentence(text: string): string {
  return text === "" || /[.!?…:;。!?]$/u.test(text) ? text : `${text}.`;
}
