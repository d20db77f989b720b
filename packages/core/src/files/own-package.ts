import { registerHooks } from "node:module";

/** A package that is resolved from its own location. */
export interface OwnPackage {
  name: string;
  /** The URL of a module from which the name resolves: `import.meta.url` of the package itself. */
  from: string;
}

/** Selects the files for which a package is resolved from its own location. */
export interface OwnPackageImporters {
  /** Name of this kind of file. The package is registered once for each kind. */
  kind: string;
  isImporter: (url: string) => boolean;
  /**
   * Whether it takes precedence over one that is installed beside them.
   *
   * @defaultValue false: only where none is installed
   */
  isPreferred?: boolean | undefined;
}

const registered = new Set<string>();

/** Lets files of the user import a package that is not installed beside them, as with a globally installed command. */
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
