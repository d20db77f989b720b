import { deno } from "./deno.ts";
import { listed } from "./guest-errors.ts";
import { folderOf, pathOf, PROGRAM_URL } from "./module-urls.ts";
import { toHostPath } from "./paths.ts";
import { attempt, ownProperty, sliceText, startsWith } from "./primordials.ts";
import { withoutTypes } from "./source-text.ts";

const BEFORE_ALL =
  " Imports and require run before the rest of the program: read a file that it writes itself with node:fs. Any other file has to be in the workspace, which ./ stands for.";
const WORKSPACE = "/workspace/";
/** The end of an error of the compiler that removes types, after a piece of the code. */
const COMPILER_PLACE = /stripTypeScriptTypes\.ts:(\d+):\d+$/;
const NO_EXPORT = /^The requested module '([^']*)' does not provide an export named '([^']*)'$/;

/** A module as messages name it: by its path in the workspace. */
function nameOf(url: string): string {
  const path = url.startsWith("file:") ? pathOf(url) : `A module of ${new URL(url).protocol}`;
  return startsWith(path, WORKSPACE) ? sliceText(path, WORKSPACE.length) : path;
}

/** Read without running code of the realm that the error belongs to. */
function messageOf(error: unknown): string {
  const message: unknown = attempt(() => ownProperty(error as object, "message")?.value as unknown, "");
  return typeof message === "string" ? message : "";
}

/** The message for a module that can't be parsed: with its file and, where a parser tells it, the line. */
export function unparsed(url: string, text: string, error: unknown): string {
  let told = messageOf(error);
  // The engine tells no line.
  if (!COMPILER_PLACE.test(told)) {
    try {
      withoutTypes(text);
    } catch (again) {
      told = messageOf(again);
    }
  }
  const [, line] = COMPILER_PLACE.exec(told) ?? [];
  const what = told.replace(/^SyntaxError: /, "").split("\n", 1)[0] ?? "";
  return `${nameOf(url)}${line === undefined ? "" : `, line ${line}`}: ${what}`;
}

export interface Importer {
  specifier: string;
  importer: string;
}

/** The import of a name that another module doesn't export. `undefined` for any other error of linking. */
export function missingExport(
  error: unknown,
  importers: readonly Importer[],
  read: (url: string) => string,
): (Importer & { name: string }) | undefined {
  const [, specifier, name] = NO_EXPORT.exec(messageOf(error)) ?? [];
  if (specifier === undefined || name === undefined) return undefined;
  const found = importers.find(
    (one) => one.specifier === specifier && attempt(() => read(one.importer).includes(name), false),
  );
  return found === undefined ? undefined : { ...found, name };
}

/** The message for an import of a name that isn't exported. The program's own file need not be named. */
export function notExported(
  { name, specifier, importer }: { name: string; specifier: string; importer?: string },
  exports: readonly string[],
): string {
  const place = importer === undefined ? "" : `${nameOf(importer)}: `;
  return `${place}${name} is not exported by ${specifier}.${listed("It exports", exports)}`;
}

/** The message for a missing module that a program imports, with the existing ones. */
export function missing(
  { specifier, names }: { specifier: string; names: readonly object[] },
  exists: (url: string) => boolean,
): string {
  const kind = specifier.startsWith("./skills/") ? "skills" : "servers";
  const isTool = folderOf(new URL(specifier, PROGRAM_URL).href) !== undefined;
  const hint = isTool ? listed(`./${kind}/ has`, foldersOf(kind)) : names.length > 0 ? BEFORE_ALL : "";
  const base = specifier.replace(/\.[cm]?js$/, "");
  const similar = [`${base}.ts`, `${base}/index.ts`].find((name) => exists(new URL(name, PROGRAM_URL).href));
  const other = similar === undefined ? hint : ` There is ${similar}.`;
  return `There is no module ${specifier}.${other}`;
}

function foldersOf(kind: string): string[] {
  return attempt(
    () => Array.from(deno.readDirSync(toHostPath(`/workspace/${kind}`)), ({ name }) => name),
    [],
  );
}
