import { addMissingImports, exportLastValue, importRequired, withoutFence } from "@cem/program";
import type { Program } from "./stages.ts";

export { isQuicklyRead } from "@cem/program";

/** Normalizes code on the calling thread. @returns the code and the additions. */
export function normalizeCode(
  given: string,
  origin: Program["origin"],
  tools: Parameters<typeof addMissingImports>[1],
): { code: string; added: string[] } {
  const imported = addMissingImports(importRequired(withoutFence(given)), tools);
  const exported = origin === "llm" ? exportLastValue(imported.code) : { code: imported.code, added: [] };
  return { code: exported.code, added: [...imported.added, ...exported.added] };
}
