import { createRequire, findPackageJSON } from "node:module";
import { pathToFileURL } from "node:url";

/**
 * Finds the module of a package that is installed where a project is: an absolute path, or `undefined`.
 *
 * @throws CemError if it must not be loaded.
 */
export type PackageFinder = (name: string) => Promise<string | undefined>;

const finders = new Set<PackageFinder>();

/**
 * Lets optional packages be loaded from a project too: a command that is installed globally has none beside it.
 *
 * @returns the function that ends it.
 */
export function addPackageFinder(find: PackageFinder): () => void {
  finders.add(find);
  return () => void finders.delete(find);
}

/**
 * The module of a package in the first open project that has it.
 *
 * @throws CemError if the only ones found must not be loaded.
 */
export async function findInProjects(name: string): Promise<string | undefined> {
  const problems: unknown[] = [];
  for (const find of finders) {
    try {
      const file = await find(name);
      if (file !== undefined) return file;
    } catch (error) {
      problems.push(error);
    }
  }
  if (problems.length > 0) throw problems[0];
  return undefined;
}

/** The module of a package that is installed beside a module. */
export function findBeside(name: string, from: string | URL): string | undefined {
  try {
    // This throws where `import` would: `require` also looks in the folders of `NODE_PATH`, which pnpm sets for commands.
    // Yarn's Plug'n'Play has no such folders, and resolves by itself.
    if (process.versions["pnp"] === undefined) findPackageJSON(name, from);
    return createRequire(from).resolve(name);
  } catch {
    return undefined;
  }
}

/** Whether a failed import says that this package is not installed, and not one that it needs. */
export function isMissing(name: string, cause: unknown): boolean {
  const { code, message } = cause as NodeJS.ErrnoException;
  return (
    (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") &&
    (message.includes(`'${name}'`) || message.includes(`"${name}"`))
  );
}

/**
 * Imports an optional package from a project where it is not installed beside the importing module. To be called in that
 * import's own `catch`: bundlers leave such imports alone.
 *
 * @param cause - The error of that import.
 * @param absence - Creates the error for a package that no project has either, or that can't be loaded.
 */
export async function importFromProject<Library>(
  name: string,
  cause: unknown,
  absence: () => Error,
): Promise<Library> {
  if (!isMissing(name, cause)) throw absence();
  const file = await findInProjects(name);
  if (file === undefined) throw absence();
  return (await import(pathToFileURL(file).href)) as Library;
}
