import type { ToolDefinition } from "@cem/core";
import { callable } from "./discovery.ts";
import type { Program } from "./run-context.ts";

/**
 * Reads code as it was meant: takes it out of a Markdown fence, imports what it requires and the tools that it calls by
 * their names alone, and has a
 * model's program end with the result that it computes and does not export.
 *
 * @returns the program, and notes on what was added.
 */
export async function readAsMeant(
  program: Program,
  tools: readonly ToolDefinition[],
): Promise<{ program: Program; notes: string[] }> {
  const { addMissingImports, exportLastValue, importRequired, withoutFence } = await import("@cem/program");
  const { code: given, origin } = program;
  const imported = addMissingImports(importRequired(withoutFence(given)), callable(tools));
  const exported = origin === "llm" ? exportLastValue(imported.code) : { code: imported.code, added: [] };
  const added = [...imported.added, ...exported.added];
  return {
    program: { ...program, code: exported.code },
    notes: added.length > 0 ? [`Added to the code: ${added.join(" ")}`] : [],
  };
}
