import { constants, createContext, Script } from "node:vm";

/** Names of the runtime that a light realm, with the language and tools alone, has too. */
const LIGHT = new Set(
  "console queueMicrotask setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate".split(
    " ",
  ),
);
/** Parts of the language that a light realm lacks, and what a global object inherits. */
const LACKING =
  "Atomics FinalizationRegistry SharedArrayBuffer Temporal WeakRef WebAssembly eval Function globalThis structuredClone addEventListener removeEventListener dispatchEvent";
/** Names that have no use in a sandbox but are common in programs. */
const COMMON = new Set("self name location close closed onerror onload".split(" "));
/** A function of the runtime that programs also use the name of, for something of their own. */
const NOT_CALLED = /^(?!\s*\()/;
/** Text after a name of the runtime in code that a light realm can hold: mostly members that it has. */
const LIGHT_MEMBERS: Record<string, RegExp> = {
  alert: NOT_CALLED,
  confirm: NOT_CALLED,
  prompt: NOT_CALLED,
  console: /^\s*\.\s*(?:log|info|debug|warn|error|dir)\b/,
  Deno: /^\s*\.\s*(?:readTextFile|writeTextFile|mkdir|remove|rename|copyFile|readDir)(?:Sync)?\b/,
  performance: /^\s*\.\s*(?:now|timeOrigin)\b/,
  crypto: /^\s*\.\s*randomUUID\b/,
  Function: /^\s*\.\s*prototype\b/,
  Error: /^(?!\s*\.\s*(?:stackTraceLimit|prepareStackTrace)\b)/,
};

/** Comments, strings, and the delimiters of regular expressions, templates and the code in templates. */
const TEXT =
  /^#![^\n\r\u2028\u2029]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?|\/\/[^\n\r\u2028\u2029]*|"(?:\\(?:\r\n|.)|[^"\\\n])*"?|'(?:\\(?:\r\n|.)|[^'\\\n])*'?|[`{}()/]/gs;
/** The rest of a regular expression. */
const PATTERN = /(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//y;
/**
 * Code endings after which a slash begins a regular expression, and after which it divides. After any other, it is
 * ambiguous.
 */
const BEFORE_PATTERN = /(?:[(,=:[!&|?{;]|=>|(?<!\.)[ ;)]return)$/;
const BEFORE_DIVISION =
  /[\w$\]\u0080-\uFFFF]$(?<!\b(?:await|break|case|continue|debugger|default|delete|do|else|extends|in|instanceof|new|of|return|throw|typeof|void|yield))/;
/** Words before a parenthesis that is not an operand. */
const CONTROL = /\b(?:if|while|for|with|await)$/;
const LONGEST_WORD = 16;
/** Text of a template, up to its end or to code in it. */
const TEMPLATE = /(?:\\.|[^`\\$]|\$(?!\{))*(?:`|\$\{)/sy;
/**
 * `import.meta`, in any notation: created on first use by code of the guest's own realm, which throws an error of that
 * realm when the stack is full. Also matched in strings and comments, so that the check doesn't depend on recognizing
 * them.
 */
const IMPORT_META = /import\s*(?:\/[/*]|\.\s*(?:\/[/*]|meta))/;
const DYNAMIC_IMPORT = /(?:(?<![.\w$])|(?<=\.\.\.))import\s*(?:\(|\.\s*(?:source|defer)\b)|\$cem\d*\.load\b/;
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
 * Whether JavaScript code may use the runtime; the code's own variables with such names count as well. Code that uses
 * only the language and tools can be loaded into a light realm.
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
 * Removes comments, strings, regular expressions and the text of templates from code. After an ambiguous slash, the
 * rest is left as it is: one reading takes as text what the other takes as code.
 */
function withoutText(code: string): string {
  let plain = "";
  /** The end of the code so far, with single spaces. */
  let before = "";
  let isAfterComment = false;
  /** Open braces, and whether they enclose code of a template; open parentheses, and whether they are no operand. */
  const braces: boolean[] = [];
  const parentheses: boolean[] = [];
  let from = 0;
  TEXT.lastIndex = 0;
  for (let match = TEXT.exec(code); match !== null; match = TEXT.exec(code)) {
    const [text] = match;
    const between = code.slice(from, match.index);
    plain += between;
    const end = `${isAfterComment ? before : ""} ${between}`.replaceAll(/\s+/g, " ").trimEnd();
    before = end.slice(-LONGEST_WORD) || before;
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
    // An operand in parentheses counts like a list.
    isAfterComment = kept === " ";
    if (kept === ")" && parentheses.pop() !== true) before = "]";
    else if (!isAfterComment) before = kept;
    from = TEXT.lastIndex;
  }
  return plain + code.slice(from);
}
