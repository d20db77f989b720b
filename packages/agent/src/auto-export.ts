import { Lazy, moduleBeside, offload } from "@cem/core";
import type { ToolDefinition } from "@cem/core";
import { callable } from "./catalog.ts";
import type { Program } from "./run-context.ts";

const work = new Lazy(() => import("./auto-export-work.ts"));

/**
 * Reads code as it was meant: takes it out of a Markdown fence, imports what it requires and the tools that it calls by
 * their names alone, and has a
 * model's program end with the result that it computes and does not export.
 *
 * @returns the program, and notes on the additions.
 */
export async function normalizeProgram(
  program: Program,
  tools: readonly ToolDefinition[],
  signal: AbortSignal,
): Promise<{ program: Program; notes: string[] }> {
  const { isQuicklyRead, normalizeCode } = await work.get();
  const { code: given, origin } = program;
  const importable = callable(tools);
  const here = () => normalizeCode(given, origin, importable);
  const { code, added } = isQuicklyRead(given)
    ? here()
    : await offload(() => {
        const named = importable.map(({ name, module }) => ({ name, module }));
        const module = moduleBeside("auto-export-work", import.meta.url);
        return { module, name: "normalizeCode", args: [given, origin, named], signal };
      }, here);
  return {
    program: { ...program, code },
    notes: added.length > 0 ? [`Added to the code: ${added.join(" ")}`] : [],
  };
}
