/** A diagnostic of TypeScript, as its protocol sends it. */
export interface Diagnostic {
  code: number;
  /** Its start offset in the program. */
  pos: number;
  text: string;
  messageChain?: readonly Diagnostic[] | undefined;
  relatedInformation?: readonly Diagnostic[] | undefined;
}

const MAX_TEXT_CHARACTERS = 600;
/** Codes of related information that says more than where something is declared. */
const HINTS = new Set([2773, 6210]);

/**
 * Codes of diagnostics on which a run would fail, by topic. All others (missing types, unused names, possible null,
 * mismatches among the program's own types) do not stop code.
 */
export const STOPPING_CODES = {
  import: [2305, 2459, 2460, 2614, 2724, 1192],
  name: [2304, 2552, 2580, 2582, 2583, 2584, 2591, 2592, 2593, 2662, 2663, 18004],
  member: [2339, 2551, 2550, 2568, 2570],
  uncallable: [2349, 2351, 2348, 6234],
  call: [2345, 2322, 2353, 2561, 2739, 2740, 2741, 2554, 2555, 2769, 2820, 2559, 2326, 2418],
  comparison: [2367, 2678],
  iteration: [2461, 2488, 2495],
  constant: [2588],
} as const satisfies Record<string, readonly number[]>;

const ALL = new Set<number>(Object.values(STOPPING_CODES).flat());

/** Whether a diagnostic may be a reason to stop the code. Inspecting types takes as long as the check itself. */
export function mayStop({ code }: { code: number }): boolean {
  return ALL.has(code);
}

/** Codes of missing type annotations. */
const IMPLICIT_ANY = { first: 7000, last: 7099 };
/** The packages and built-in modules that a program imports have no types here. */
const UNTYPED_MODULE = /^Cannot find (?:module|package) '(?!\.|\/|file:|servers\/|skills\/)/u;
/** Tools without an output schema return `unknown`, and programs use the result as the value it is. */
const UNKNOWN_VALUE = /\b(?:type|Type) 'unknown'/u;

/** Whether a diagnostic is an error in the program, rather than a type that it or a tool leaves out. */
export function isError({ code, text }: Pick<Diagnostic, "code" | "text">): boolean {
  const isImplicit = code >= IMPLICIT_ANY.first && code <= IMPLICIT_ANY.last;
  return !isImplicit && !UNTYPED_MODULE.test(text) && !UNKNOWN_VALUE.test(text);
}

/** TypeScript's message with its elaborations, in one line. */
export function textOf(diagnostic: Diagnostic): string {
  const text = sentencesOf(diagnostic).join(" ");
  return text.length > MAX_TEXT_CHARACTERS ? `${text.slice(0, MAX_TEXT_CHARACTERS)}…` : text;
}

function sentencesOf({ text, messageChain = [], relatedInformation = [] }: Diagnostic): string[] {
  const hints = relatedInformation.filter(({ code }) => HINTS.has(code));
  const sentence = /[.?]$/u.test(text) ? text : `${text}.`;
  return [sentence, ...[...messageChain, ...hints].flatMap(sentencesOf)];
}

/** Thrown for a program that is too deep or too large to be parsed. Its message continues a sentence. */
export class UnreadableProgram extends Error {}
