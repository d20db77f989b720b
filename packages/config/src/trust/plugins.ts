import { readdirSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isObject, parseJson } from "@cem/core";
import { isWithin, textOfFile } from "@cem/core/files";
import { moduleResolve } from "import-meta-resolve";
import type { PluginSetting } from "../schema/extensions.ts";
import { isPathByForm } from "../schema/setting.ts";
import { trustItem } from "./items.ts";
import { MAX_FILES, digestFiles, digestPackage, realPath } from "./places.ts";

/** The location of a plugin's code, none of which is loaded. */
export interface PluginSource extends PluginSetting {
  /** Its name in messages: its path in the folder, or the package. */
  name: string;
  /** The real path of the module. Absent where there is none. */
  file?: string | undefined;
  /** The folder of the plugin's package, or of its module. */
  root?: string | undefined;
  /** The version that its package.json says. */
  version?: string | undefined;
  /** The real paths of all files that are known to be loaded with it. */
  files: readonly string[];
  /** Why it can't be loaded. */
  problem?: string | undefined;
}

/** Placeholder for the content of a file that is too large to be read. */
const UNREAD = /^\d+ bytes of /u;
const PACKAGE = /^(?:@[a-z\d~-][\w.~-]*\/)?[a-z\d~-][\w.~-]*(?:\/[\w.~-]+)*$/iu;

/** Where plugins are looked for. */
export interface PluginPlace {
  /** The folder whose config.yaml names them. Packages are resolved as for code in this folder. */
  base: string;
  /** The real path of the folder whose files need trust. */
  folder: string;
}

/** Finds the module of a plugin, without loading it. */
export function findPlugin(setting: PluginSetting, { base, folder }: PluginPlace): PluginSource {
  const { plugin } = setting;
  const isPath = isPathByForm(plugin);
  const name = isPath && isWithin(folder, realPath(dirname(plugin))) ? shortName(base, plugin) : plugin;
  const file = isPath ? realPath(plugin) : packageModule(plugin, base);
  if (file === undefined || statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    return { ...setting, name, files: [], problem: missing(plugin, isPath) };
  const manifest = manifestOf(file);
  const isOfProject = manifest === undefined || isWithin(realPath(dirname(manifest)), realPath(base));
  const version = isOfProject ? undefined : readManifest(manifest)?.["version"];
  return {
    ...setting,
    name,
    file,
    root: isOfProject ? dirname(file) : dirname(manifest),
    version: typeof version === "string" ? version : undefined,
    files: [file],
  };
}

/** Returns the access that a plugin named by files of the folder requests, and all files that it is known to load. */
export function askForPlugin(source: PluginSource, folder: string, variables: unknown) {
  const { name, plugin, options, file } = source;
  if (file === undefined) return { source };
  const digests = digestPlugin(folder, file);
  const text = `loads ${relative(folder, file)} into this process`;
  const item = trustItem({ kind: "plugin", name, text }, [plugin, file, options, variables], digests);
  const files = [...digests.keys()].map((one) => join(folder, one));
  const problem = unseen(digests);
  return { source: { ...source, files, problem }, item };
}

/** Finds an optional package installed for a folder. Its digest covers its own files, not the packages that it imports. */
export function findPackage(name: string, folder: string) {
  const file = packageModule(name, folder);
  if (file === undefined) return undefined;
  const manifest = versionedManifestOf(file) ?? file;
  const files = [file, manifest];
  const digests = digestFiles(folder, files, { isWithin: (one) => files.includes(one) });
  digests.set(relative(folder, dirname(manifest)), digestPackage(dirname(manifest)));
  const text = `loads ${relative(folder, file)} into this process`;
  return { file, item: trustItem({ kind: "package", name, text }, file, digests) };
}

/** The reason why a change of a plugin's files could go unnoticed, if there is one. */
function unseen(digests: ReadonlyMap<string, string>): string | undefined {
  if (digests.size >= MAX_FILES)
    return `It loads ${MAX_FILES} files or more, too many to see whether they change. Bundle it into fewer.`;
  const [large] = [...digests].find(([, digest]) => UNREAD.test(digest)) ?? [];
  return large === undefined ? undefined : `${large} is too large to see whether it changes.`;
}

/** `undefined` for anything but a package name, so that URLs and paths are not accepted. */
function packageModule(name: string, base: string): string | undefined {
  if (!PACKAGE.test(name) || name.split("/").some((part) => /^\.+$/u.test(part))) return undefined;
  return resolveModule(name, join(base, "config.yaml"));
}

function missing(plugin: string, isPath: boolean): string {
  if (isPath) return "There is no such file.";
  return `No package of this name is installed where the project is. Install it there, or write ./${plugin} for a file.`;
}

function shortName(base: string, file: string): string {
  const way = relative(base, file).replaceAll("\\", "/");
  return way.startsWith(".") ? way : `./${way}`;
}

/** The fields of package.json that decide which code a module is and loads. */
const MANIFEST_KEYS = ["name", "type", "main", "exports", "imports"];
/** Possible names of packages or of entries of `imports`, anywhere in the code. */
const NAMED = /["'`](?<name>[@#\w][^"'`\\\s]{0,200})["'`]/gu;
/** Modules are resolved as `import` does, and as `require` does in modules of that kind. */
const CONDITIONS = [
  new Set(["node", "import", "module-sync"]),
  new Set(["node", "require", "module-sync"]),
] as const;
/** In a plugin, this is always the running program's own package, even if another is installed beside the plugin. */
const OWN_PACKAGE = /^code-execution-mcp(?:\/|$)/u;

/** Digests a plugin's module and all modules, also of packages, that its code names, with the manifests that decide which. */
function digestPlugin(folder: string, entry: string): Map<string, string> {
  const manifests = new Set<string>();
  const installed = createLookup();
  const digests = digestFiles(folder, [entry], {
    isWithin: () => true,
    alsoNamed(file, code) {
      const manifest = manifestOf(file);
      if (manifest !== undefined) manifests.add(manifest);
      const names = new Set([...code.matchAll(NAMED)].map(({ groups }) => groups?.["name"] ?? ""));
      return [...names].flatMap((name) => (installed(name, file) ? modulesOf(name, file) : []));
    },
  });
  for (const manifest of manifests) digests.set(relative(folder, manifest), keysOf(manifest));
  return digests;
}

/** Creates a function that checks whether a package is installed for a file, so that few names have to be resolved. */
function createLookup(): (name: string, file: string) => boolean {
  const folders = new Map<string, ReadonlySet<string>>();
  const packagesIn = (folder: string): ReadonlySet<string> => {
    const known = folders.get(folder) ?? new Set(list(join(folder, "node_modules")));
    folders.set(folder, known);
    return known;
  };
  return (name, file) => {
    if (name.startsWith("#")) return true;
    const [first = ""] = name.split("/", 1);
    if (OWN_PACKAGE.test(name)) return false;
    for (let folder = dirname(file); ; folder = dirname(folder)) {
      if (packagesIn(folder).has(first)) return true;
      if (folder === dirname(folder)) return false;
    }
  };
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function modulesOf(name: string, from: string): string[] {
  return CONDITIONS.flatMap((conditions) => resolveModule(name, from, conditions) ?? []);
}

/** The real path of the file that a module's name stands for. `undefined` when that is not a file. */
function resolveModule(name: string, from: string, conditions: ReadonlySet<string> = CONDITIONS[0]) {
  try {
    const { href, protocol } = moduleResolve(name, pathToFileURL(from), new Set(conditions));
    return protocol === "file:" ? realPath(fileURLToPath(href)) : undefined;
  } catch {
    return undefined;
  }
}

function manifestOf(file: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (readManifest(manifest) !== undefined) return manifest;
    if (folder === dirname(folder)) return undefined;
  }
}

/** The manifest that has the version of a file's package: those of folders in it may have none. */
function versionedManifestOf(file: string): string | undefined {
  const manifest = manifestOf(file);
  if (manifest === undefined || readManifest(manifest)?.["version"] !== undefined) return manifest;
  return versionedManifestOf(dirname(manifest));
}

/** Reads a manifest. `{}` when it is broken, `undefined` when there is none. */
function readManifest(file: string): Record<string, unknown> | undefined {
  const text = textOfFile(file);
  if (text === undefined) return undefined;
  const manifest = parseJson(text);
  return isObject(manifest) ? manifest : {};
}

function keysOf(file: string): string {
  const manifest = readManifest(file) ?? {};
  return JSON.stringify(MANIFEST_KEYS.map((key) => manifest[key]));
}
