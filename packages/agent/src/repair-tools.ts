import { toolId } from "@cem/core";
import type { ToolDefinition } from "@cem/core";
import { callable } from "./discovery.ts";
import { findOthers } from "./offer.ts";
import type { RunContext } from "./run-context.ts";
import type { Offered } from "./selection.ts";

/** As many tools as are added because a program names them. */
const MAX_NAMED = 10;
/** As many tools as are added because an error is about them. */
const MAX_FOUND = 3;
const WORDS = /[\p{L}\p{N}_$]+/gu;

/**
 * Picks the tools that a repair needs and the model was not told of: those that its code or the messages name, else those that
 * are closest to the messages.
 */
export async function toolsForRepair(
  context: RunContext,
  { code, message }: { code: string; message: string },
  { selection, others }: Offered,
  tools: readonly ToolDefinition[],
): Promise<ToolDefinition[]> {
  const offered = [...selection.selected.map(({ tool }) => tool), ...others];
  const known = new Set(offered);
  const rest = callable(tools).filter((tool) => !known.has(tool));
  if (rest.length === 0) return [];
  const text = `${code}\n${message}`;
  const words = new Set(text.match(WORDS));
  const named = rest.filter((tool) => words.has(tool.name));
  // Where several servers have a tool of the name, the one whose server is named too.
  const exact = named.filter((tool) => text.includes(tool.module) || text.includes(toolId(tool)));
  if (named.length > 0) return (exact.length > 0 ? exact : named).slice(0, MAX_NAMED);
  const found = await findOthers(context, message, { offered, tools }, MAX_FOUND);
  return found.map(({ tool }) => tool);
}
