import type { Ask, Primordials } from "./primordials.ts";

/**
 * Adds the functions of Deno for text files and folders to a realm that has nothing else of the runtime. Paths, texts and
 * options cross as texts. Each is done at once, so that nothing of it is left when the program ends.
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

  const functions = {
    __proto__: null as never,
    readTextFile: (path: unknown) => call("readTextFileSync", path),
    writeTextFile: (path: unknown, data: unknown, options?: unknown) =>
      void call("writeTextFileSync", path, toText(data), options),
    mkdir: (path: unknown, options?: unknown) => void call("mkdirSync", path, undefined, options),
    remove: (path: unknown, options?: unknown) => void call("removeSync", path, undefined, options),
    rename: (path: unknown, to: unknown) => void call("renameSync", path, textOf(to, "new path")),
    copyFile: (path: unknown, to: unknown) => void call("copyFileSync", path, textOf(to, "new path")),
  } as unknown as Record<string, (...args: unknown[]) => unknown>;
  for (const name in functions) {
    const run = functions[name] as (...args: unknown[]) => unknown;
    const made = {
      [name]: async (...args: unknown[]) => run(...args),
      [`${name}Sync`]: (...args: unknown[]) => run(...args),
    };
    for (const key in made) defineValue(Deno, key, made[key], true);
  }
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
