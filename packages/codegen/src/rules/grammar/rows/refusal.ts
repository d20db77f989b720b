import { toolId, type ToolDefinition } from "@cem/core";
import { Unfilled } from "../../planning/plan.ts";
import type { Step } from "../../planning/step.ts";
import type { RowReader } from "./row-reader.ts";

const MAX_NAMED_COLUMNS = 30;
const MAX_UNREAD_CHARACTERS = 80;

/** What to tell when a step asks something of rows that was not understood as a whole. */
export function notUnderstood(step: Step, reader: RowReader, rows: string, tool?: ToolDefinition): Unfilled {
  const { problem } = reader;
  if (problem !== undefined)
    return new Unfilled({ step: step.text, reason: "missing-argument", argument: "order", hint: problem });
  const words = reader.cursor.unread.slice(0, MAX_UNREAD_CHARACTERS);
  const { keys } = reader.columns;
  const way =
    keys.length === 0
      ? `Say it as a condition, an order or a number of ${rows}: "where price > 10", "sorted by name", "the first 3".`
      : `The columns of ${rows} are ${keys.slice(0, MAX_NAMED_COLUMNS).join(", ")}. Say it as a condition or an order of one of them.`;
  return new Unfilled({
    step: step.text,
    reason: "missing-argument",
    ...(tool === undefined ? {} : { tool: toolId(tool) }),
    argument: words,
    hint: `"${words}" was not understood. ${way}`,
  });
}
