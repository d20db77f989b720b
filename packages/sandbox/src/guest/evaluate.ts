import { evaluateScript } from "./deno.ts";
import { includesText, sliceText, startsWith } from "./primordials.ts";

type Strip = (code: string, options: { mode: "strip" }) => string;
/** A compiled program. */
export type Main = (runtime: object) => Promise<unknown>;

/** The beginning of every compiled program, and its replacement in strict mode, as in a module. */
const MODULE_OPENING = "export default async function ";
const SCRIPT_OPENING = '"use strict";({ async default ';
const SCRIPT_CLOSING = "\n}).default";
/** Source URL by which the host recognizes the program's stack frames. */
const SCRIPT_URL = "blob:program";

let strip: Strip | undefined;

/**
 * Enables evaluation as a script instead of a module, where possible: Deno never frees modules, and each one slows down the
 * next.
 */
export async function prepareToEvaluate(): Promise<void> {
  const { stripTypeScriptTypes } = (await import("node:module")) as unknown as {
    stripTypeScriptTypes: Strip;
  };
  strip = stripTypeScriptTypes;
}

/** Compiles a program to a function; `undefined` where only a module has the right semantics or error messages. */
export function evaluateProgram(source: string): Main | undefined {
  if (strip === undefined || !startsWith(source, MODULE_OPENING)) return undefined;
  // These begin comments in a script, but are operators in a module.
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
