import { isBuiltin } from "node:module";
import { deno } from "./deno.ts";
import { endStdinOf } from "./ended-stdin.ts";
import { patchNodeModule } from "./file-view.ts";
import { attempt } from "./primordials.ts";

type Members = Record<string, unknown>;
type Callable = (...args: unknown[]) => unknown;

/** @returns the exports of a Node module. @throws TypeError when there is none with this name. */
export async function nodeModule(url: string): Promise<Members> {
  if (!isBuiltin(url)) throw new TypeError(`There is no module ${url}.`);
  const name = url.slice("node:".length);
  const namespace = (await import(url)) as Members;
  const main = (namespace["default"] ?? {}) as Members;
  patchNodeModule(name, main);
  endStdinOf(name, main);
  if (name === "timers" || name === "timers/promises") useTimers(name, main);
  if (name === "os") main["tmpdir"] = temporaryFolder;
  if (name === "console") Object.assign(main, globalThis.console);
  const exports = Object.create(null) as Members;
  // A module's exports are immutable, so patched members of its main object are exported instead.
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

const TEMPORARY_FOLDER = "/workspace/tmp";

/** The folder for temporary files: programs can't write to the system's own. */
function temporaryFolder(): string {
  attempt(() => (deno["mkdirSync"] as Callable)(TEMPORARY_FOLDER, { recursive: true }), undefined);
  return TEMPORARY_FOLDER;
}

/** Makes timers from Node modules timers of the realm, which the run waits for. */
function useTimers(name: string, main: Members): void {
  const own = globalThis as unknown as Members;
  const promisified = Symbol.for("nodejs.util.promisify.custom");
  for (const key of Object.keys(main)) {
    if (!/^(?:set|clear)/.test(key)) continue;
    const timer = own[key] as (Callable & { [promisified]?: Callable }) | undefined;
    if (name === "timers" && timer !== undefined) main[key] = timer;
    if (name === "timers/promises" && timer?.[promisified] !== undefined) {
      const original = main[key] as Callable;
      const sleep = timer[promisified];
      // With options, such as a signal, the runtime's own timer is used.
      main[key] = (...args: unknown[]) => (args.length > 2 ? original(...args) : sleep(...args));
    }
  }
}
