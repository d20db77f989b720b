import { evaluateScript } from "./deno.ts";
import { includesText, sliceText, startsWith } from "./primordials.ts";

type Strip = (code: string, options: { mode: "strip" }) => string;
/** A compiled program. */
export type Main = (runtime: object) => Promise<unknown>;

/** How every compiled program begins, and what takes its place: a program is strict, as a module is. */
const MODULE_OPENING = "export default async function ";
const SCRIPT_OPENING = '"use strict";({ async default ';
const SCRIPT_CLOSING = "\n}).default";
/** By this the host knows the stack frames that are the program's. */
const SCRIPT_URL = "blob:program";

let strip: Strip | undefined;

/**
 * From here on programs are evaluated where they can be. Deno keeps every module for good, and each makes the next one
 * dearer.
 */
export async function prepareToEvaluate(): Promise<void> {
  const { stripTypeScriptTypes } = (await import("node:module")) as unknown as {
    stripTypeScriptTypes: Strip;
  };
  strip = stripTypeScriptTypes;
}

/** A compiled program as a function; `undefined` where only a module is right, or can say what is wrong. */
export function evaluateProgram(source: string): Main | undefined {
  if (strip === undefined || !startsWith(source, MODULE_OPENING)) return undefined;
  // In a script these begin comments, in a module they are operators.
  if (includesText(source, "<!--") || includesText(source, "-->")) return undefined;
  try {
    // Types become blanks, so every place stays where it was. What is more than types, such as an enum, is refused.
    const plain = strip(source, { mode: "strip" });
    if (!startsWith(plain, MODULE_OPENING)) return undefined;
    const script = SCRIPT_OPENING + sliceText(plain, MODULE_OPENING.length) + SCRIPT_CLOSING;
    return evaluateScript(script, SCRIPT_URL) as Main | undefined;
  } catch {
    return undefined;
  }
}
