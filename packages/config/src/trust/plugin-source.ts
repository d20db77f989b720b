import { statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { PluginSetting } from "../schema-plugins.ts";
import { isPathByForm } from "../setting.ts";
import { MAX_FILES } from "./code-files.ts";
import { isWithin, realPath } from "./places.ts";
import { digestPlugin, manifestOf, readManifest, resolveModule } from "./plugin-files.ts";
import { type TrustItem, trustItem } from "./trust-item.ts";

/** Where a plugin's code is. Nothing of it was loaded. */
export interface PluginSource extends PluginSetting {
  /** What messages call it: its path in the folder, or the package. */
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

/** Stands for the content of a file that is too large to be read. */
const UNREAD = /^\d+ bytes of /u;
const PACKAGE = /^(?:@[a-z\d~-][\w.~-]*\/)?[a-z\d~-][\w.~-]*(?:\/[\w.~-]+)*$/iu;

/** Where plugins are looked for. */
export interface PluginPlace {
  /** The folder that names them: its config.yaml is there. Packages are those that code in it would import. */
  base: string;
  /** The real path of the folder whose files need a yes. */
  folder: string;
  /** Variables of the folder that plugins can look up. */
  variables?: readonly (readonly [name: string, value: string])[] | undefined;
}

/** Finds the module of a plugin, without loading it. */
export function findPlugin(setting: PluginSetting, { base, folder }: PluginPlace): PluginSource {
  const { plugin } = setting;
  const isPath = isPathByForm(plugin);
  const name = isPath && isWithin(folder, realPath(dirname(plugin))) ? shortName(base, plugin) : plugin;
  const file = isPath ? realPath(plugin) : packageModule(plugin, base);
  if (file === undefined || statSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
    return { ...setting, name, files: [], problem: missing(plugin, isPath) };
  }
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

/** What a plugin asks for that files of the folder name, and all files that it is known to load. */
export function askForPlugin(
  source: PluginSource,
  { folder, variables }: PluginPlace,
): { source: PluginSource; item?: TrustItem | undefined } {
  const { name, plugin, options, file } = source;
  if (file === undefined) return { source };
  const digests = digestPlugin(folder, file);
  const text = `loads ${relative(folder, file)} into this process`;
  const item = trustItem({ kind: "plugin", name, text }, [plugin, file, options, variables], digests);
  const files = [...digests.keys()].map((one) => join(folder, one));
  const problem = unseen(digests);
  return { source: { ...source, files, problem }, item };
}

/** Why a change of a plugin's files could go unseen. */
function unseen(digests: ReadonlyMap<string, string>): string | undefined {
  if (digests.size >= MAX_FILES) {
    return `It loads ${MAX_FILES} files or more, too many to see whether they change. Bundle it into fewer.`;
  }
  const [large] = [...digests].find(([, digest]) => UNREAD.test(digest)) ?? [];
  return large === undefined ? undefined : `${large} is too large to see whether it changes.`;
}

/** `undefined` for what is no package's name, so that URLs and paths are none. */
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
