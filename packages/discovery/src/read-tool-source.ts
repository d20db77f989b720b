import type { FunctionFacts } from "./module-facts.ts";
import { readModule } from "./read-module.ts";
import { parseSourceModule } from "./source-module.ts";

/** The exported functions of some source, or why it can't be read. */
export type ParsedToolSource =
  | { ok: true; functions: FunctionFacts[] }
  | { ok: false; message: string; line?: number | undefined };

/** Reads the exported functions of one piece of TypeScript or JavaScript. Types from other files are taken as unknown. */
export function readToolSource(code: string): ParsedToolSource {
  const parsed = parseSourceModule("/source.ts", code);
  if (!parsed.ok) return parsed;
  return { ok: true, functions: readModule(parsed.module, () => undefined).functions };
}
