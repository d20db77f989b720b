import { SourceTextModule } from "node:vm";
import { useSourceMap } from "./guest-errors.ts";
import type { Realm } from "./realm.ts";
import { settled } from "./primordials.ts";
import { withoutTypes } from "./source-text.ts";

/** A compiled program. */
export type Main = (runtime: object) => Promise<unknown>;

/** By which the host recognizes the program's stack frames. */
const PROGRAM_URL = "blob:program";

/** Loads a compiled program into its realm. */
export async function loadProgram({ context, inside }: Realm, source: string): Promise<Main> {
  try {
    const { code, sourceMap } = withoutTypes(source);
    useSourceMap(sourceMap);
    const module = new SourceTextModule(code, {
      identifier: PROGRAM_URL,
      context,
    });
    // It imports nothing: its imports were compiled to calls.
    await module.link(() => Promise.reject(new Error("A program has no imports of its own.")));
    await settled(module.evaluate());
    return (module.namespace as { default: Main }).default;
  } catch (error) {
    throw inside.inward(error);
  }
}
