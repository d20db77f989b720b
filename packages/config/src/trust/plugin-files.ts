import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { moduleResolve } from "import-meta-resolve";
import { digestFiles } from "./code-files.ts";
import { realPath } from "./places.ts";

/** What of package.json decides which code a module is and loads. */
const MANIFEST_KEYS = ["name", "type", "main", "exports", "imports"];
/** Whatever may be the name of a package or of an entry of `imports`, however it stands in the code. */
const NAMED = /["'`](?<name>[@#\w][^"'`\\\s]{0,200})["'`]/gu;
/** Modules are resolved as `import` does, and as `require` does in modules of that kind. */
const CONDITIONS = [
  new Set(["node", "import", "module-sync"]),
  new Set(["node", "require", "module-sync"]),
] as const;
/** It is this program's own in a plugin, whatever is installed beside it. */
const OWN_PACKAGE = /^code-execution-mcp(?:\/|$)/u;

/**
 * Digests a plugin's module and all modules that it loads by a name that stands in its code, also those of other packages,
 * with the manifests that decide which files those are.
 *
 * @param folder - What names are relative to.
 */
export function digestPlugin(folder: string, entry: string): Map<string, string> {
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

/** Returns a function that says whether a package of a name is installed for a file, so that few names are resolved. */
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

/** The real path of the file that a module's name stands for. `undefined` where that is no file. */
export function resolveModule(
  name: string,
  from: string,
  conditions: ReadonlySet<string> = CONDITIONS[0],
): string | undefined {
  try {
    const { href, protocol } = moduleResolve(name, pathToFileURL(from), new Set(conditions));
    return protocol === "file:" ? realPath(fileURLToPath(href)) : undefined;
  } catch {
    return undefined;
  }
}

/** The manifest of the package that a file belongs to. */
export function manifestOf(file: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (readManifest(manifest) !== undefined) return manifest;
    if (folder === dirname(folder)) return undefined;
  }
}

/** A manifest, `{}` where it is broken, `undefined` where there is none. */
export function readManifest(file: string): Record<string, unknown> | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
  try {
    const manifest: unknown = JSON.parse(text);
    return typeof manifest === "object" && manifest !== null ? (manifest as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function keysOf(file: string): string {
  const manifest = readManifest(file) ?? {};
  return JSON.stringify(MANIFEST_KEYS.map((key) => manifest[key]));
}
