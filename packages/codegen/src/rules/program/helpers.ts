import { call, type Expression } from "./expression.ts";
import { HELPER_CODE } from "./helper-code.ts";

/** Small functions that a program carries when it needs them: their code by name. */
const HELPERS: ReadonlyMap<string, string> = new Map(
  HELPER_CODE.split("\n\n").map((code) => [/function (\w+)/u.exec(code)?.[1] ?? "", code.trim()]),
);

export const HELPER_NAMES: readonly string[] = [...HELPERS.keys()];

/** A call of a helper. */
export function useHelper(helper: string, ...args: Expression[]): Expression {
  return call(helper, ...args);
}

/** A string literal, in which a name is no call. */
const STRING = /"(?:[^"\\]|\\[^])*\\?(?:"|$)/gu;

/** The code of the helpers that a program calls, and of those that they call, in the order of the list. */
export function helperCode(program: string): string[] {
  const wanted = new Set<string>();
  const wantCalled = (code: string): void => {
    for (const [name = ""] of code.matchAll(/\b\w+(?=\()/gu)) {
      const helper = HELPERS.get(name);
      if (helper === undefined || wanted.has(name)) continue;
      wanted.add(name);
      wantCalled(helper);
    }
  };
  wantCalled(program.replaceAll(STRING, '""'));
  return [...HELPERS].filter(([name]) => wanted.has(name)).map(([, code]) => code);
}
