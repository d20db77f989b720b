import { registerHooks } from "node:module";

/** A package that is resolved from its own place where an importing file finds none. */
export interface OwnPackage {
  name: string;
  /** The URL of a module from which the name resolves: `import.meta.url` of the package itself. */
  from: string;
}

const registered = new Set<string>();

/** Lets files of host tools import the package although nothing is installed beside them, as with a global command. */
export function resolveOwnPackage({ name, from }: OwnPackage): void {
  if (registered.has(name)) return;
  registered.add(name);
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== name || !/\.host\.m?[jt]s$/.test(context.parentURL ?? "")) {
        return next(specifier, context);
      }
      try {
        return next(specifier, context);
      } catch {
        return next(specifier, { ...context, parentURL: from });
      }
    },
  });
}
