import type { FunctionFacts } from "./source/module-facts.ts";
import { readModule } from "./functions/read-module.ts";
import { parseSourceModule } from "./source/source-module.ts";

export type { FunctionFacts } from "./source/module-facts.ts";

/** The exported functions of a piece of source, or the syntax error in it. */
type ParsedToolSource =
  | { ok: true; functions: FunctionFacts[] }
  | {
      ok: false;
      message: string;
      /** 1-based. */
      line?: number | undefined;
    };

/**
 * Reads the exported functions of one piece of TypeScript or JavaScript, without running it. Types imported from other
 * files are read as unknown.
 *
 * @param code - The source text of one module.
 */
export function readToolSource(code: string): ParsedToolSource {
  const parsed = parseSourceModule("/source.ts", code);
  if (!parsed.ok) return parsed;
  return { ok: true, functions: readModule(parsed.module, () => undefined).functions };
}
