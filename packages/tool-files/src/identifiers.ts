import { sha256 } from "./canonical-json.ts";

/** The longest identifier, in UTF-16 units: what MCP allows for a tool's name. */
const MAX_IDENTIFIER_CHARACTERS = 128;

/** Words that can't name a function in a module. */
const RESERVED_WORDS =
  "arguments await break case catch class const continue debugger default delete do else enum eval " +
  "export extends false finally for function if implements import in instanceof interface let new null package " +
  "private protected public return static super switch this throw true try typeof undefined var void while with yield";

/** Names that mean something to whoever holds a module or an object: a module with a `then` is taken for a promise. */
const MAGIC_NAMES =
  "then constructor prototype toString toLocaleString valueOf toJSON hasOwnProperty isPrototypeOf " +
  "propertyIsEnumerable __proto__ __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__";

/** Names the generated module itself needs. */
const OWN_NAMES = "callTool globalThis Promise";

const UNUSABLE = new Set(`${RESERVED_WORDS} ${MAGIC_NAMES} ${OWN_NAMES}`.split(" "));

/** ECMAScript's rule without the characters that can't be seen: those would make two names look the same. */
const IDENTIFIER = /^(?!\p{DI})[\p{ID_Start}$_](?:(?!\p{DI})[\p{ID_Continue}$])*$/u;
const NOT_IN_IDENTIFIER = /(?:(?![\p{ID_Continue}$])[\s\S]|\p{DI})+/gu;

/** Whether a name can stand as a function's name as it is. */
export function isUsableIdentifier(name: string): boolean {
  return (
    name.length <= MAX_IDENTIFIER_CHARACTERS &&
    IDENTIFIER.test(name) &&
    name.normalize("NFC") === name &&
    !UNUSABLE.has(name)
  );
}

/** Six hexadecimal digits that belong to a name. */
export function nameHash(name: string): string {
  return sha256(name).slice(0, 6);
}

/**
 * A valid identifier as near to the name as can be: `get-weather` is `get_weather`, `delete` is `delete_`. Depends
 * on the name alone, so two names may give the same one.
 */
export function toIdentifier(name: string): string {
  if (isUsableIdentifier(name)) return name;
  const words = name.toWellFormed().normalize("NFC").replace(NOT_IN_IDENTIFIER, " ").trim();
  let identifier = words.replaceAll(" ", "_");
  if (identifier.replaceAll("_", "") === "") identifier = `tool_${nameHash(name)}`;
  if (!IDENTIFIER.test(identifier)) identifier = `_${identifier}`;
  if (identifier.length > MAX_IDENTIFIER_CHARACTERS) {
    identifier = `${identifier.slice(0, MAX_IDENTIFIER_CHARACTERS - 8).toWellFormed()}_${nameHash(name)}`;
  }
  if (UNUSABLE.has(identifier)) identifier = `${identifier}_`;
  return isUsableIdentifier(identifier) ? identifier : `tool_${nameHash(name)}`;
}
