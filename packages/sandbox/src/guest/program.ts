import { SourceTextModule } from "node:vm";
import { isOwn } from "./deno.ts";
import { PROGRAM_URL, useSourceMap } from "./guest-errors.ts";
import { needsRuntime, RuntimeNeeded } from "./needs-runtime.ts";
import type { Realm } from "./realm.ts";
import { settled } from "./primordials.ts";
import { withoutTypes } from "./source-text.ts";

/** The compiler puts a line before the program: this offset keeps positions as in the given program. */
const FIRST_LINE = -1;

/** @throws RuntimeNeeded for a program that the realm can't run; otherwise an error of the realm. */
export async function loadProgram({ context, ownError }: Realm, source: string): Promise<unknown> {
  try {
    const { code, sourceMap } = withoutTypes(source);
    if (context !== undefined && needsRuntime(code)) throw new RuntimeNeeded();
    useSourceMap(PROGRAM_URL, sourceMap);
    const module = new SourceTextModule(code, {
      identifier: PROGRAM_URL,
      context: context as never,
      lineOffset: FIRST_LINE,
    });
    // It imports nothing: its imports were compiled to calls.
    await module.link(() => Promise.reject(new Error("A program has no imports of its own.")));
    await settled(module.evaluate());
    return (module.namespace as { default: unknown }).default;
  } catch (error) {
    throw isOwn(error, RuntimeNeeded) ? error : ownError(error);
  }
}
