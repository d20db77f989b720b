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

/** The code of the helpers that a program calls, and of those that they call, in the order of the list. */
export function helperCode(called: ReadonlySet<string>): string[] {
  const wanted = new Set<string>();
  const want = (helper: string): void => {
    const code = HELPERS.get(helper);
    if (code === undefined || wanted.has(helper)) return;
    wanted.add(helper);
    for (const [name = ""] of code.matchAll(/\b\w+(?=\()/gu)) want(name);
  };
  for (const name of called) want(name);
  return [...HELPERS].filter(([name]) => wanted.has(name)).map(([, code]) => code);
}
