import type { Dirent } from "node:fs";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { withoutEscapes } from "@cem/core";

/** An entry directly in the servers folder: a server's folder, a shared folder, or a file. */
export interface ServerEntry {
  isFolder: boolean;
  /** The names that its modules export, found by text search. */
  exported: ReadonlySet<string>;
  references: readonly string[];
}

interface ModuleText {
  stamp: string;
  exported: readonly string[];
  references: readonly string[];
}

const SOURCE = /\.[cm]?[jt]sx?$/;
const GUEST_SERVERS = "/workspace/servers/";
/** A path to another file in a string literal, as in a dynamic import or a file access. */
const PATH_LITERAL = /["'`]((?:\.{1,2}\/|(?:file:\/\/)?\/workspace\/|servers\/)[^"'`\n]*)["'`]/g;
const DECLARED =
  /\bexport\s+(?:async\s+)?(?:function\b[\s*]*|(?:const|let|var|class)\s+)([\w$\u0080-\uFFFF]+)/g;
const LISTED = /\bexport\s*\{([^{}]*)\}/g;

/**
 * Creates a function that reads the references between entries of a servers folder. Unchanged files are not read again.
 */
export function createEntryReader(folder: string) {
  const texts = new Map<string, ModuleText>();

  /** The entry that a link points to. `undefined`: outside of the servers folder. */
  async function targetOf(relative: string, root: string): Promise<string | undefined> {
    const target = await realpath(path.join(folder, relative)).catch(() => "");
    const [entry = ""] = path.relative(root, target).split(path.sep);
    const isOutside = entry === "" || entry === ".." || path.isAbsolute(entry);
    return isOutside ? undefined : entry;
  }

  /** The modules of an entry. Targets of links in it are added to `links`, and are read there. */
  async function modulesOf(
    entry: Dirent,
    relative: string,
    into: { root: string; links: string[] },
  ): Promise<ModuleText[]> {
    const file = path.join(folder, relative);
    if (entry.isSymbolicLink()) {
      const target = await targetOf(relative, into.root);
      if (target !== undefined) into.links.push(target);
      return [];
    }
    if (entry.isDirectory()) {
      const inside = (await listFolder(file)).filter(({ name }) => name !== "node_modules");
      const modules = inside.map((one) => modulesOf(one, path.join(relative, one.name), into));
      return (await Promise.all(modules)).flat();
    }
    if (!entry.isFile() || !SOURCE.test(relative)) return [];
    const about = await stat(file).catch(() => undefined);
    const stamp = `${about?.mtimeMs} ${about?.ctimeMs} ${about?.size}`;
    const known = texts.get(relative);
    if (known?.stamp === stamp) return [known];
    const text = { stamp, ...readModule(relative, await readFile(file, "utf8").catch(() => "")) };
    texts.set(relative, text);
    return [text];
  }

  /** @returns `undefined` for a broken link or one that points out of the folder, since a mount would follow it. */
  async function read(entry: Dirent, root: string, isOpaque: boolean): Promise<ServerEntry | undefined> {
    const { name } = entry;
    const target = entry.isSymbolicLink() ? await targetOf(name, root) : undefined;
    if (entry.isSymbolicLink() && target === undefined) return undefined;
    const about = await stat(path.join(folder, name)).catch(() => undefined);
    if (about === undefined) return undefined;
    const isFolder = about.isDirectory();
    if (isOpaque) return { isFolder, exported: new Set(), references: [] };
    const links: string[] = [];
    const modules = await modulesOf(entry, name, { root, links });
    return {
      isFolder,
      exported: new Set(modules.flatMap(({ exported }) => exported)),
      references: [...links, ...modules.flatMap(({ references }) => references)],
    };
  }

  /**
   * @param isOpaque - Whether an entry need not be read because its references are irrelevant.
   */
  return async (isOpaque: (name: string) => boolean): Promise<ReadonlyMap<string, ServerEntry>> => {
    const root = await realpath(folder).catch(() => folder);
    const found = await listFolder(folder);
    const entries = await Promise.all(
      found.map(async (entry) => [entry.name, await read(entry, root, isOpaque(entry.name))] as const),
    );
    return new Map(entries.filter((one): one is [string, ServerEntry] => one[1] !== undefined));
  };
}

/** The entries of a folder, sorted to be deterministic across file systems. A folder that can't be listed is empty. */
export async function listFolder(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []);
  return entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function readModule(relative: string, source: string): Omit<ModuleText, "stamp"> {
  const own = relative.split(path.sep);
  const base = new URL(`file://${GUEST_SERVERS}${own.map(encodeURIComponent).join("/")}`);
  const paths = [...source.matchAll(PATH_LITERAL)].map(([, specifier = ""]) => specifier);
  const references = paths.flatMap((specifier) => entryOf(specifier, base) ?? []);
  const declared = [...source.matchAll(DECLARED)].map(([, name = ""]) => name);
  const listed = [...source.matchAll(LISTED)].flatMap(([, list = ""]) => exportedIn(list));
  return {
    exported: [...declared, ...listed],
    references: references.filter((entry) => entry !== own[0]),
  };
}

/** The exported names in the braces of an export. */
function exportedIn(list: string): string[] {
  const parts = list.split(",").map((part) => part.trim());
  return parts.filter((part) => part !== "").map((part) => part.split(/\s+/).at(-1) ?? "");
}

/** The entry that a path in a module points to. `undefined`: none. */
function entryOf(specifier: string, base: URL): string | undefined {
  const target = URL.parse(specifier.replace(/^servers\//, GUEST_SERVERS), base.href)?.pathname;
  if (target?.startsWith(GUEST_SERVERS) !== true) return undefined;
  const [entry = ""] = target.slice(GUEST_SERVERS.length).split("/");
  return entry === "" ? undefined : withoutEscapes(entry);
}
