import { isUsableIdentifier, nameHash, toIdentifier } from "./identifiers.ts";

/** What one tool is called in TypeScript. */
export interface ToolName {
  /** The name its server knows it by; the one that is sent. */
  original: string;
  /** The exported function. */
  identifier: string;
  /** Its file in the server's folder: `get_weather.ts`. */
  file: string;
}

/** Windows takes these for devices, whatever follows the dot. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/**
 * Gives every tool of one server a function name and a file name, both unique, the file also on a disk that does not
 * tell upper from lower case. A name that is a valid identifier is kept. The order of the tools does not matter.
 *
 * @param originals the tools' own names, each once.
 * @param previous identifiers given earlier, by original name: kept where that is still possible, so that code keeps
 * working when other tools come and go.
 */
export function nameTools(
  originals: readonly string[],
  previous: ReadonlyMap<string, string> = new Map(),
): Map<string, ToolName> {
  const sorted = originals.toSorted(byCodeUnits);
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
  const wanted = countBy(open, toIdentifier);
  for (const name of open) {
    const identifier = toIdentifier(name);
    const free = wanted.get(identifier) === 1 && !taken.has(identifier);
    take(name, free ? identifier : unused(`${identifier.slice(0, 110)}_${nameHash(name)}`, taken));
  }
  return withFiles(identifiers);
}

function withFiles(identifiers: ReadonlyMap<string, string>): Map<string, ToolName> {
  const sharing = countBy([...identifiers.values()], (identifier) => identifier.toLowerCase());
  const names = new Map<string, ToolName>();
  for (const [original, identifier] of identifiers) {
    const lower = identifier.toLowerCase();
    const plain = /^[\w$]+$/.test(identifier) && lower !== "index" && !DEVICE_NAME.test(identifier);
    const alone = sharing.get(lower) === 1 || identifier === lower;
    // A hyphen is in no identifier, so these never meet a plain name.
    const stem = /^[\w$]+$/.test(identifier) ? identifier : "tool";
    const file = plain && alone ? `${identifier}.ts` : `${stem}-${nameHash(identifier)}.ts`;
    names.set(original, { original, identifier, file });
  }
  return names;
}

/** The longest folder name of a server, in characters. */
const MAX_FOLDER_CHARACTERS = 64;

/**
 * The folder under `servers/` for each server: its own name where that is safe as one on every system, made safe
 * otherwise. Unique also where upper and lower case are the same.
 */
export function nameServerFolders(servers: readonly string[]): Map<string, string> {
  const sorted = servers.toSorted(byCodeUnits);
  const sharing = countBy(sorted, (name) => toFolder(name).toLowerCase());
  return new Map(
    sorted.map((name) => {
      const folder = toFolder(name);
      const keeps =
        sharing.get(folder.toLowerCase()) === 1 || (name === folder && name === name.toLowerCase());
      return [name, keeps ? folder : `${folder}-${nameHash(name)}`];
    }),
  );
}

function toFolder(server: string): string {
  const words = server.replaceAll(/[^\w.-]+/g, "-").replaceAll(/\.{2,}/g, ".");
  const folder = words.replaceAll(/^[.-]+|[.-]+$/g, "");
  if (folder === "") return `server-${nameHash(server)}`;
  if (folder.length > MAX_FOLDER_CHARACTERS)
    return `${folder.slice(0, 48).replace(/[.-]+$/, "")}-${nameHash(server)}`;
  return DEVICE_NAME.test(folder) ? `${folder.replaceAll(".", "-")}-server` : folder;
}

function countBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}

function unused(name: string, taken: ReadonlySet<string>): string {
  let candidate = name;
  for (let number = 2; taken.has(candidate); number += 1) candidate = `${name}_${number}`;
  return candidate;
}

function byCodeUnits(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
