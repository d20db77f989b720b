import { sha256 } from "./canonical-json.ts";

/** The longest identifier, in UTF-16 units: what MCP allows for a tool's name. */
const MAX_IDENTIFIER_CHARACTERS = 128;

/** Words that can't be the name of a function in a module. */
const RESERVED_WORDS =
  "arguments await break case catch class const continue debugger default delete do else enum eval " +
  "export extends false finally for function if implements import in instanceof interface let new null package " +
  "private protected public return static super switch this throw true try typeof undefined var void while with yield";

/** Names with a meaning on modules or objects: a module with an export `then` is treated as a promise. */
const MAGIC_NAMES =
  "then constructor prototype toString toLocaleString valueOf toJSON hasOwnProperty isPrototypeOf " +
  "propertyIsEnumerable __proto__ __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__";

/** Names that the generated module uses itself. */
const OWN_NAMES = "callTool globalThis Promise";

const UNUSABLE = new Set(`${RESERVED_WORDS} ${MAGIC_NAMES} ${OWN_NAMES}`.split(" "));

/** An ECMAScript identifier without invisible characters, which would make two names look the same. */
const IDENTIFIER = /^(?!\p{DI})[\p{ID_Start}$_](?:(?!\p{DI})[\p{ID_Continue}$])*$/u;
const NOT_IN_IDENTIFIER = /(?:(?![\p{ID_Continue}$])[\s\S]|\p{DI})+/gu;
/** Most names are ASCII, for which a simple pattern says the same in less time. */
const ASCII = /^[ -~]*$/;
const ASCII_IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const NOT_IN_ASCII_IDENTIFIER = /[^\w$]+/g;

/** Whether a tool's name can be used unchanged as the name of a function. */
export function isUsableIdentifier(name: string): boolean {
  return (
    name.length <= MAX_IDENTIFIER_CHARACTERS &&
    isIdentifier(name) &&
    !UNUSABLE.has(name) &&
    (ASCII.test(name) || name.normalize("NFC") === name)
  );
}

function isIdentifier(name: string): boolean {
  return ASCII_IDENTIFIER.test(name) || IDENTIFIER.test(name);
}

/** The first six hexadecimal digits of a name's digest. */
export function nameHash(name: string): string {
  return sha256(name).slice(0, 6);
}

/**
 * Converts a tool's name to a similar valid identifier: `get-weather` to `get_weather`, `delete` to `delete_`. Two names
 * may have the same one.
 */
export function toIdentifier(name: string): string {
  if (isUsableIdentifier(name)) return name;
  const words = ASCII.test(name)
    ? name.replace(NOT_IN_ASCII_IDENTIFIER, " ")
    : name.toWellFormed().normalize("NFC").replace(NOT_IN_IDENTIFIER, " ");
  let identifier = words.trim().replaceAll(" ", "_");
  if (identifier.replaceAll("_", "") === "") identifier = `tool_${nameHash(name)}`;
  if (!isIdentifier(identifier)) identifier = `_${identifier}`;
  if (identifier.length > MAX_IDENTIFIER_CHARACTERS) {
    identifier = `${identifier.slice(0, MAX_IDENTIFIER_CHARACTERS - 8).toWellFormed()}_${nameHash(name)}`;
  }
  if (UNUSABLE.has(identifier)) identifier = `${identifier}_`;
  return isUsableIdentifier(identifier) ? identifier : `tool_${nameHash(name)}`;
}
