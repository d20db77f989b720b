import { hash } from "node:crypto";

/** The names of a tool in TypeScript. */
export interface ToolName {
  /** The name its server gives it, which calls send. */
  original: string;
  /** The name of the exported function. */
  identifier: string;
  /** The name of its file in the server's folder, such as `get_weather.ts`. */
  file: string;
}

/** Device names of Windows, with any extension. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/**
 * Assigns a unique function name and a unique file name to every tool of a server. File names are also unique on
 * case-insensitive file systems. A name that is a valid identifier is kept. The result does not depend on the order.
 *
 * @param originals - the names the server gives the tools, each once.
 * @param previous - identifiers assigned before, by original name. They are kept where possible, so that existing code
 *   keeps working when other tools are added or removed.
 */
export function nameTools(originals: readonly string[], previous: ReadonlyMap<string, string> = new Map()) {
  const sorted = originals.toSorted();
  const identifiers = new Map<string, string>();
  const taken = new Set<string>();
  const take = (original: string, identifier: string): void => {
    identifiers.set(original, identifier);
    taken.add(identifier);
  };

  for (const name of sorted) {
    if (isUsableIdentifier(name)) take(name, name);
  }
  for (const name of sorted) {
    const earlier = previous.get(name);
    if (identifiers.has(name) || earlier === undefined) continue;
    if (isUsableIdentifier(earlier) && !taken.has(earlier)) take(name, earlier);
  }
  const open = sorted.filter((name) => !identifiers.has(name));
  const wanted = Map.groupBy(open, toIdentifier);
  for (const name of open) {
    const identifier = toIdentifier(name);
    const free = wanted.get(identifier)?.length === 1 && !taken.has(identifier);
    take(name, free ? identifier : unused(`${identifier.slice(0, 110)}_${nameHash(name)}`, taken));
  }
  return withFiles(identifiers);
}

function withFiles(identifiers: ReadonlyMap<string, string>): Map<string, ToolName> {
  const sharing = Map.groupBy(identifiers.values(), (identifier) => identifier.toLowerCase());
  const names = new Map<string, ToolName>();
  for (const [original, identifier] of identifiers) {
    const lower = identifier.toLowerCase();
    const plain = /^[\w$]+$/.test(identifier) && lower !== "index" && !DEVICE_NAME.test(identifier);
    const alone = sharing.get(lower)?.length === 1 || identifier === lower;
    // An identifier has no hyphen, so these names never equal a plain one.
    const stem = /^[\w$]+$/.test(identifier) ? identifier : "tool";
    const file = plain && alone ? `${identifier}.ts` : `${stem}-${nameHash(identifier)}.ts`;
    names.set(original, { original, identifier, file });
  }
  return names;
}

const MAX_FOLDER_CHARACTERS = 64;

/**
 * Assigns a unique folder name to every server: its own name if that is a safe file name on every operating system. The
 * folder names are also unique on case-insensitive file systems. When the names of several servers map to one folder,
 * the server for which its files were generated gets it, else the first.
 *
 * @param ownerOf - Returns the server for which the files in a folder were generated, so that servers keep their
 *   folders.
 */
export function nameServerFolders(
  servers: readonly string[],
  ownerOf: (folder: string) => string | undefined = () => undefined,
): Map<string, string> {
  const folders = new Map<string, string>();
  const taken = new Set<string>();
  const take = (name: string, folder: string): void => {
    folders.set(name, folder);
    taken.add(folder.toLowerCase());
  };
  const lower = (name: string): string => toFolder(name).toLowerCase();
  const sharing = Map.groupBy(servers, lower);
  for (const name of servers) {
    const shared = sharing.get(lower(name))?.length === 1 ? [] : [toFolder(name)];
    const own = [toOwnFolder(name), ...shared].find((folder) => ownerOf(folder) === name);
    if (own !== undefined) take(name, own);
  }
  const isSafe = (name: string): boolean => name === lower(name);
  const open = servers.filter((name) => !folders.has(name));
  for (const name of [...open.filter(isSafe), ...open.filter((one) => !isSafe(one))])
    take(name, taken.has(lower(name)) ? toOwnFolder(name) : toFolder(name));
  return folders;
}

function toOwnFolder(server: string): string {
  return `${toFolder(server)}-${nameHash(server)}`;
}

function toFolder(server: string): string {
  const words = server.replaceAll(/[^\w.-]+/g, "-").replaceAll(/\.{2,}/g, ".");
  const folder = words.replaceAll(/^[.-]+|(?<![.-])[.-]+$/g, "");
  if (folder === "") return `server-${nameHash(server)}`;
  if (folder.length > MAX_FOLDER_CHARACTERS)
    return `${folder.slice(0, 48).replace(/(?<![.-])[.-]+$/, "")}-${nameHash(server)}`;
  return DEVICE_NAME.test(folder) ? `${folder.replaceAll(".", "-")}-server` : folder;
}

function unused(name: string, taken: ReadonlySet<string>): string {
  let candidate = name;
  for (let number = 2; taken.has(candidate); number += 1) candidate = `${name}_${number}`;
  return candidate;
}

/** The longest identifier, in UTF-16 units: what MCP allows for a tool's name. */
const MAX_IDENTIFIER_CHARACTERS = 128;

/** Words that can't be the name of a function in a module. */
const RESERVED_WORDS =
  "arguments await break case catch class const continue debugger default delete do else enum eval " +
  "export extends false finally for function if implements import in instanceof interface let new null package " +
  "private protected public return static super switch this throw true try typeof undefined var void while with yield";

/** Names with a special meaning on modules or objects: a module with an export `then` is treated as a promise. */
const MAGIC_NAMES =
  "then constructor prototype toString toLocaleString valueOf toJSON hasOwnProperty isPrototypeOf " +
  "propertyIsEnumerable __proto__ __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__";

/** Names that the generated module uses itself. */
const OWN_NAMES = "callTool globalThis Promise";

const UNUSABLE = new Set(`${RESERVED_WORDS} ${MAGIC_NAMES} ${OWN_NAMES}`.split(" "));

/** An ECMAScript identifier without invisible characters, which would make two names look the same. */
const IDENTIFIER = /^(?!\p{DI})[\p{ID_Start}$_](?:(?!\p{DI})[\p{ID_Continue}$])*$/u;
const NOT_IN_IDENTIFIER = /(?:(?![\p{ID_Continue}$])[\s\S]|\p{DI})+/gu;
/** Whether a tool's name can be used unchanged as the name of a function. */
export function isUsableIdentifier(name: string): boolean {
  return (
    name.length <= MAX_IDENTIFIER_CHARACTERS &&
    IDENTIFIER.test(name) &&
    !UNUSABLE.has(name) &&
    name.normalize("NFC") === name
  );
}

function nameHash(name: string): string {
  return hash("sha256", name).slice(0, 6);
}

/** Converts a tool's name to a similar valid identifier, which may not be unique: `delete` to `delete_`. */
export function toIdentifier(name: string): string {
  if (isUsableIdentifier(name)) return name;
  const words = name.toWellFormed().normalize("NFC").replace(NOT_IN_IDENTIFIER, " ");
  let identifier = words.trim().replaceAll(" ", "_");
  if (identifier.replaceAll("_", "") === "") identifier = `tool_${nameHash(name)}`;
  if (!IDENTIFIER.test(identifier)) identifier = `_${identifier}`;
  if (identifier.length > MAX_IDENTIFIER_CHARACTERS) {
    identifier = `${identifier.slice(0, MAX_IDENTIFIER_CHARACTERS - 8).toWellFormed()}_${nameHash(name)}`;
  }
  if (UNUSABLE.has(identifier)) identifier = `${identifier}_`;
  return isUsableIdentifier(identifier) ? identifier : `tool_${nameHash(name)}`;
}
