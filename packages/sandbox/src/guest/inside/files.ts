import type { Ask, Primordials } from "./primordials.ts";

/**
 * Adds Deno's functions for text files and folders to a light realm. Paths, texts and options cross the boundary as
 * text. All are synchronous inside, so that nothing is pending when the program ends.
 */
export function installFiles(primordials: Primordials, ask: Ask): void {
  const { constructors, create, defineValue, parseJson, stringify, toText } = primordials;
  const Deno = create(Object.prototype) as object;
  const asyncIterator = Symbol.asyncIterator;

  function textOf(value: unknown, what: string): string {
    if (typeof value === "string") return value;
    throw new constructors.TypeError(`The ${what} is a string.`);
  }

  function call(method: string, path: unknown, other?: string, options?: unknown): string {
    const given = options === undefined ? undefined : stringify(options);
    return ask("file", method, textOf(path, "path"), other, given);
  }

  function add(name: string, run: (...args: unknown[]) => unknown): void {
    defineValue(Deno, name, async (...args: unknown[]) => run(...args), true);
    defineValue(Deno, `${name}Sync`, run, true);
  }

  add("readTextFile", (path) => call("readTextFileSync", path));
  add("writeTextFile", (path, text, options) => void call("writeTextFileSync", path, toText(text), options));
  add("mkdir", (path, options) => void call("mkdirSync", path, undefined, options));
  add("remove", (path, options) => void call("removeSync", path, undefined, options));
  add("rename", (path, to) => void call("renameSync", path, textOf(to, "new path")));
  add("copyFile", (path, to) => void call("copyFileSync", path, textOf(to, "new path")));
  const entries = (path: unknown) => parseJson(call("readDirSync", path)) as object[];
  defineValue(Deno, "readDirSync", (path: unknown) => entries(path).values(), true);
  const readDir = (path: unknown) => ({
    async *[asyncIterator]() {
      const list = entries(path);
      for (let index = 0; index < list.length; index += 1) yield list[index];
    },
  });
  defineValue(Deno, "readDir", readDir, true);
  defineValue(globalThis, "Deno", Deno, true);
}
