import { isBuiltin } from "node:module";
import { patchNodeModule } from "./file-view.ts";
import type { FiniteWork } from "./finite-work.ts";

type Members = Record<string, unknown>;

/**
 * Loads a module of Node's.
 *
 * @returns its exports.
 * @throws TypeError when there is none of the name.
 */
export async function nodeModule(url: string, finiteWork: FiniteWork): Promise<Members> {
  if (!isBuiltin(url)) throw new TypeError(`There is no module ${url}.`);
  const name = url.slice("node:".length);
  const namespace = (await import(url)) as Members;
  const main = (namespace["default"] ?? {}) as Members;
  patchNodeModule(name, main);
  finiteWork.noteModule(name, main);
  const exports = Object.create(null) as Members;
  // A module's own exports can't be changed, so what was patched in its main object is exported from there.
  for (const key of Object.keys(namespace)) {
    const isData = key !== "default" && "value" in (Object.getOwnPropertyDescriptor(main, key) ?? {});
    exports[key] = isData ? main[key] : namespace[key];
  }
  if (name === "process") {
    exports["default"] = (globalThis as unknown as Members)["process"];
    exports["argv0"] = (exports["default"] as Members)["argv0"];
  }
  return exports;
}
