import { constants, createContext, Script } from "node:vm";

/** Names of the runtime that a realm with the language and tools alone has, too. */
const LIGHT = new Set(
  "console queueMicrotask setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate".split(
    " ",
  ),
);
/** Parts of the language that it lacks. */
const LACKING =
  "Atomics FinalizationRegistry SharedArrayBuffer Temporal WeakRef WebAssembly eval Function globalThis structuredClone";
/** Names that mean nothing in a sandbox, and much in a program. */
const COMMON = new Set("name location close closed alert confirm prompt onerror onload".split(" "));
/** Members of the runtime's objects that it has. */
const LIGHT_MEMBERS: Record<string, RegExp> = {
  console: /^\s*\.\s*(?:log|info|debug|warn|error|dir)\b/,
  Deno: /^\s*\.\s*(?:readTextFile|writeTextFile|mkdir|remove|rename|copyFile|readDir)(?:Sync)?\b/,
  performance: /^\s*\.\s*(?:now|timeOrigin)\b/,
  crypto: /^\s*\.\s*randomUUID\b/,
};

/** Comments and strings, without what lies in templates, which may be code. */
const TEXT = /\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?/g;
const DYNAMIC_IMPORT = /(?<![.\w$])import\s*\(/;
const WORD = /(?<![.\w$])[A-Za-z_$][\w$]*|(?<=\.\.\.)[A-Za-z_$][\w$]*/g;

export const languageNames: ReadonlySet<string> = new Set(
  new Script("Object.getOwnPropertyNames(globalThis)").runInContext(
    createContext(constants.DONT_CONTEXTIFY),
  ) as string[],
);
const lacking = new Set([...Object.getOwnPropertyNames(globalThis), "require"]);
for (const name of [...languageNames, ...LIGHT, ...COMMON]) lacking.delete(name);
for (const name of [...LACKING.split(" "), ...Object.keys(LIGHT_MEMBERS)]) lacking.add(name);

/**
 * Whether a module, as JavaScript, may use the runtime: names of it that are a key or a variable of the module's own count
 * as well. A module of the language and tools alone can be loaded into a realm that has nothing else.
 */
export function needsRuntime(code: string): boolean {
  const plain = code.replaceAll(TEXT, (text) => {
    if (text.startsWith("/")) return " ";
    // A quote that is not closed on its line is one of a pattern, and code follows.
    return text.length > 1 && text.at(-1) === text[0] ? '""' : text;
  });
  if (DYNAMIC_IMPORT.test(plain)) return true;
  for (const { 0: name, index } of plain.matchAll(WORD)) {
    if (!lacking.has(name)) continue;
    const rest = plain.slice(index + name.length, index + name.length + 80);
    if (LIGHT_MEMBERS[name]?.test(rest) !== true) return true;
  }
  return false;
}
