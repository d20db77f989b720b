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

/** Comments, strings, and what begins or ends a pattern, a template and the code in one. */
const TEXT =
  /\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?|\/\/[^\n\r\u2028\u2029]*|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|[`{}()/]/gs;
/** The rest of a pattern. */
const PATTERN = /(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//y;
/** Ends code after which a slash begins a pattern, and code after which it divides. After any other it may do either. */
const BEFORE_PATTERN = /(?:[(,=:[!&|?{;]|=>|[\s;)]return|^return)$/;
const BEFORE_DIVISION =
  /[\w$\]\u0080-\uFFFF]$(?<!\b(?:await|break|case|continue|debugger|default|delete|do|else|extends|in|instanceof|new|of|return|throw|typeof|void|yield))/;
/** Words before a parenthesis that is no operand. */
const CONTROL = /\b(?:if|while|for|with|await)$/;
const LONGEST_WORD = 16;
/** Text of a template, up to its end or the code in it. */
const TEMPLATE = /(?:\\.|[^`\\$]|\$(?!\{))*(?:`|\$\{)/sy;
/**
 * `import.meta`, however it is written: made at its first use, by code of the guest's own realm. Where the stack is full, that
 * throws an error of that realm. Looked for in strings and comments as well, so that it does not rest on what is taken for text.
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

/**
 * Code without comments, strings, patterns and the text of templates. From a slash on that may begin a pattern or divide, it is left
 * as it is: what would be text by one reading is code by the other.
 */
function withoutText(code: string): string {
  let plain = "";
  /** The end of the code so far. */
  let before = "";
  /** Open braces, and whether the code of a template is in them; open parentheses, and whether they are no operand. */
  const braces: boolean[] = [];
  const parentheses: boolean[] = [];
  let from = 0;
  TEXT.lastIndex = 0;
  for (let match = TEXT.exec(code); match !== null; match = TEXT.exec(code)) {
    const [text] = match;
    const between = code.slice(from, match.index);
    plain += between;
    before = between.trimEnd().slice(-LONGEST_WORD) || before;
    let kept = text;
    if (text === "{") braces.push(false);
    else if (text === "(") parentheses.push(CONTROL.test(before));
    else if (text === "`" || (text === "}" && braces.pop() === true)) {
      TEMPLATE.lastIndex = TEXT.lastIndex;
      TEXT.lastIndex += TEMPLATE.exec(code)?.[0].length ?? 0;
      const isCode = code[TEXT.lastIndex - 1] === "{";
      if (isCode) braces.push(true);
      kept = isCode ? '""(' : '""';
    } else if (text === "/") {
      PATTERN.lastIndex = TEXT.lastIndex;
      const isPattern = BEFORE_PATTERN.test(before) && PATTERN.test(code);
      if (!isPattern && !BEFORE_DIVISION.test(before)) return plain + code.slice(match.index);
      if (isPattern) TEXT.lastIndex = PATTERN.lastIndex;
      kept = isPattern ? '""' : text;
    } else if (text.length > 1) kept = text.startsWith("/") ? " " : '""';
    plain += kept;
    // An operand in parentheses is like a list.
    if (kept === ")" && parentheses.pop() !== true) before = "]";
    else if (kept !== " ") before = kept;
    from = TEXT.lastIndex;
  }
  return plain + code.slice(from);
}
