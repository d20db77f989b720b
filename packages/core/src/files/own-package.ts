import { registerHooks } from "node:module";

/** A package that importing files get from its own place. */
export interface OwnPackage {
  name: string;
  /** The URL of a module from which the name resolves: `import.meta.url` of the package itself. */
  from: string;
}

/** Which files get a package from its own place. */
export interface OwnPackageImporters {
  /** Name of this kind of file. The package is registered once for each kind. */
  kind: string;
  isImporter: (url: string) => boolean;
  /**
   * Whether it takes the place of one that is installed beside them.
   *
   * @defaultValue false: only where none is installed
   */
  isPreferred?: boolean | undefined;
}

const registered = new Set<string>();

/** Lets files of the user import a package although nothing is installed beside them, as with a global command. */
export function resolveOwnPackage(
  { name, from }: OwnPackage,
  { kind, isImporter, isPreferred = false }: OwnPackageImporters,
): void {
  const key = `${kind} ${name}`;
  if (registered.has(key)) return;
  registered.add(key);
  registerHooks({
    resolve(specifier, context, next) {
      const isOwn = specifier === name || specifier.startsWith(`${name}/`);
      if (!isOwn || !isImporter(context.parentURL ?? "")) return next(specifier, context);
      const own = { ...context, parentURL: from };
      if (isPreferred) return next(specifier, own);
      try {
        return next(specifier, context);
      } catch {
        return next(specifier, own);
      }
    },
  });
}
