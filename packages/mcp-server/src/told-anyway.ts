import { CemError, toErrorInfo, toolId } from "@cem/core";
import type { ToolCallRecord } from "@cem/core";
import type { CallToolResult } from "@modelcontextprotocol/server";

const MAX_NAMED_TOOLS = 10;

/** A run that ended with an exception after it had called tools. Its client must know of the calls in order not to repeat them. */
export class BrokenRun extends CemError {
  readonly calls: readonly ToolCallRecord[];

  constructor(thrown: unknown, calls: readonly ToolCallRecord[]) {
    const { code, message, details } = toErrorInfo(thrown);
    super(code, message, { details, cause: thrown });
    this.calls = calls;
  }
}

/**
 * Describes the calls that a run has made. Code may call any name, even one that must be hidden, so only names of known
 * tools are shown.
 */
export function callsMade(calls: readonly ToolCallRecord[]): string {
  if (calls.length === 0) return "It called no tools.";
  const known = calls.filter(({ ok, place }) => ok && place === undefined);
  const byTool = Map.groupBy(known, ({ server, tool }) => toolId({ server, name: tool }));
  const named = [...byTool].slice(0, MAX_NAMED_TOOLS).map(([id, { length }]) => `${id} ${length}x`);
  const counted = calls.length === 1 ? "1 tool call" : `${calls.length} tool calls`;
  const list = named.length === 0 ? "" : ` (among them ${named.join(", ")})`;
  return `It made ${counted}${list}; a retry does the same again.`;
}

/** The part of an answer that is safe without redaction, and whether it is the whole answer. */
interface Told {
  words: string;
  isAll?: boolean | undefined;
}

const tellable = new WeakMap<object, Told>();

/**
 * Notes the part of an answer that may be shown if the rest can't be redacted. It contains no text of a tool, a program or
 * a client.
 */
export function tellAnyway(answer: CallToolResult, told: Told): CallToolResult {
  tellable.set(answer, told);
  return answer;
}

/** Returns the part of an answer that is safe without redaction. */
export function toldAnyway(answer: object): Told {
  return tellable.get(answer) ?? { words: "The call was made." };
}
