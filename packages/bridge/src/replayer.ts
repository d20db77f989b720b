import type { JsonValue, ToolCall, ToolInvoker, ToolResult } from "@cem/core";
import { stringify } from "safe-stable-stringify";

/** A call of an earlier run with its result. */
export interface AnsweredCall {
  server: string;
  tool: string;
  args: JsonValue;
  result: ToolResult;
}

/**
 * Creates an invoker that answers calls as they were answered in an earlier run. A call that was made several times gets its
 * results in that order. A call that was not made, or is repeated more often, fails with `NOT_RECORDED`.
 *
 * @param calls - In the order in which they were made. The order of keys in arguments does not matter.
 */
export function createReplayer(calls: readonly AnsweredCall[]): ToolInvoker {
  const recorded = new Map<string, { results: ToolResult[]; asked: number }>();
  for (const { result, ...call } of calls) {
    const key = keyOf(call);
    const same = recorded.get(key) ?? { results: [], asked: 0 };
    same.results.push(result);
    recorded.set(key, same);
  }
  return {
    specificationVersion: "v1",
    async invoke(call) {
      const same = recorded.get(keyOf(call));
      const found = same?.results[same.asked];
      if (same !== undefined) same.asked += 1;
      if (found !== undefined) return structuredClone(found);
      const { server, tool } = call;
      const why =
        same === undefined
          ? "with these arguments was not made in the recorded run"
          : `was made ${same.results.length} times in the recorded run, and this is call ${same.asked}`;
      const message = `The call of ${server}.${tool} ${why}.`;
      return { ok: false, error: { code: "NOT_RECORDED", message, details: { server, tool } } };
    },
  };
}

function keyOf({ server, tool, args }: ToolCall): string {
  return stringify([server, tool, args ?? null]);
}
