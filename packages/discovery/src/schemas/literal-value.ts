import type { Constants } from "@cem/program";
import type { Declaration, SourceModule } from "../source/source-module.ts";
import type { ModuleLoader } from "./schema-reader.ts";

/** Maximum number of files through which a name is followed. */
const MAX_HOPS = 16;

/** Finds what a name in a file refers to, following imports. */
export function findDeclaration(name: string, module: SourceModule, load: ModuleLoader, hops = 0) {
  const local = module.declarations.get(name);
  if (local) return local;
  const origin = module.imports.get(name);
  return origin && findExported(origin.specifier, origin.imported, module, load, hops);
}

/** Finds what another file exports by a name, following its re-exports. */
export function findExported(
  specifier: string,
  name: string,
  from: SourceModule,
  load: ModuleLoader,
  hops = 0,
): Declaration | undefined {
  const module = hops >= MAX_HOPS ? undefined : loadResolved(from.file, specifier, load);
  if (!module) return undefined;
  const reexport = module.reexports.get(name);
  if (reexport) return findExported(reexport.specifier, reexport.imported, module, load, hops + 1);
  const found = findDeclaration(module.exported.get(name) ?? name, module, load, hops + 1);
  if (found) return found;
  for (const star of module.stars) {
    const behind = findExported(star, name, module, load, hops + 1);
    if (behind) return behind;
  }
  return undefined;
}

/** Loads a module by any specifier that TypeScript accepts for it: `./types.js` or `./types` for types.ts. */
function loadResolved(from: string, specifier: string, load: ModuleLoader): SourceModule | undefined {
  if (/\.m?ts$/.test(specifier)) return load(from, specifier);
  const stem = specifier.replace(/\.m?js$/, "");
  return load(from, `${stem}.ts`) ?? load(from, `${stem}.d.ts`) ?? load(from, specifier);
}

/** The constants of a file, and of others that it imports. */
export function constantsOf(module: SourceModule, load: ModuleLoader): Constants {
  return {
    find(name) {
      const found = findDeclaration(name, module, load);
      return found?.kind === "constant"
        ? { node: found.node, constants: constantsOf(found.module, load) }
        : undefined;
    },
  };
}
