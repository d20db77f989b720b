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
const COMMON = new Set("self name location close closed alert confirm prompt onerror onload".split(" "));
/** Members of the runtime's objects that it has. */
const LIGHT_MEMBERS: Record<string, RegExp> = {
  console: /^\s*\.\s*(?:log|info|debug|warn|error|dir)\b/,
  Deno: /^\s*\.\s*(?:readTextFile|writeTextFile|mkdir|remove|rename|copyFile|readDir)(?:Sync)?\b/,
  performance: /^\s*\.\s*(?:now|timeOrigin)\b/,
  crypto: /^\s*\.\s*randomUUID\b/,
  Function: /^\s*\.\s*prototype\b/,
  Error: /^(?!\s*\.\s*(?:stackTraceLimit|prepareStackTrace)\b)/,
};

/** Comments, strings and patterns, and what begins or ends code in a template. */
const TEXT =
  /\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|\/(?<=(?:[(,=:[!&|?{;]|=>|\breturn)\s*\/)(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/|[`{}]/gs;
/** Text of a template, up to its end or the code in it. */
const TEMPLATE = /(?:\\.|[^`\\$]|\$(?!\{))*(?:`|\$\{)/sy;
/**
 * `import.meta`, however it is written: made at its first use, by code of the guest's own realm. Where the stack is full, that
 * throws an error of that realm. Looked for in strings and comments as well, as `withoutText` may take code for text.
 */
const IMPORT_META = /import\s*(?:\/[/*]|\.\s*(?:\/[/*]|meta))/;
const DYNAMIC_IMPORT = /(?<![.\w$])import\s*\(|\$cem\d*\.load\b/;
const WORD = /(?<![.\w$])[A-Za-z_$][\w$]*|(?<=\.\.\.)[A-Za-z_$][\w$]*/g;

export const languageNames: ReadonlySet<string> = new Set(
  new Script("Object.getOwnPropertyNames(globalThis)").runInContext(
    createContext(constants.DONT_CONTEXTIFY),
  ) as string[],
);
const lacking = new Set([...Object.getOwnPropertyNames(globalThis), "require"]);
for (const name of [...languageNames, ...LIGHT, ...COMMON]) lacking.delete(name);
for (const name of [...LACKING.split(" "), ...Object.keys(LIGHT_MEMBERS)]) lacking.add(name);

/** Thrown, before anything is evaluated, for code that only the guest's own realm can hold. */
export class RuntimeNeeded extends Error {}

/**
 * Whether code, as JavaScript, may use the runtime: names of it that are a variable of the code's own count as well. Code of
 * the language and tools alone can be loaded into a realm that has nothing else.
 */
export function needsRuntime(code: string): boolean {
  if (IMPORT_META.test(code)) return true;
  const plain = withoutText(code);
  if (DYNAMIC_IMPORT.test(plain)) return true;
  for (const { 0: name, index } of plain.matchAll(WORD)) {
    if (!lacking.has(name)) continue;
    const rest = plain.slice(index + name.length, index + name.length + 80);
    const isKey = /^\s*:/.test(rest) && /[{,]\s*$/.test(plain.slice(Math.max(0, index - 80), index));
    if (!isKey && LIGHT_MEMBERS[name]?.test(rest) !== true) return true;
  }
  return false;
}

/** Code without comments, strings, patterns and the text of templates. */
function withoutText(code: string): string {
  let plain = "";
  /** Open braces, and whether the code of a template is in them. */
  const open: boolean[] = [];
  let from = 0;
  TEXT.lastIndex = 0;
  for (let match = TEXT.exec(code); match !== null; match = TEXT.exec(code)) {
    const [text] = match;
    plain += code.slice(from, match.index);
    if (text === "{") open.push(false);
    if (text === "`" || (text === "}" && open.pop() === true)) {
      TEMPLATE.lastIndex = TEXT.lastIndex;
      TEXT.lastIndex += TEMPLATE.exec(code)?.[0].length ?? 0;
      if (code[TEXT.lastIndex - 1] === "{") open.push(true);
    }
    // A quote that is not closed on its line is one of a pattern, and code follows.
    const isText = text.startsWith("/") || text.at(-1) === text[0];
    plain += isText && text !== "{" ? '""' : text;
    from = TEXT.lastIndex;
  }
  return plain + code.slice(from);
}
