import { toErrorInfo } from "@cem/core";
import type { JsonValue, ToolCall, ToolInvoker } from "@cem/core";
import { nearest } from "@cem/text";

/** What a tool answers: a value, or a function of the arguments. Throwing makes the call fail. */
export type MockTool = JsonValue | ((args: JsonValue, call: ToolCall) => JsonValue | Promise<JsonValue>);

export interface MockInvoker extends ToolInvoker {
  /** Every call so far, in order. */
  readonly calls: readonly ToolCall[];
}

/** An invoker for tests that needs no server: `createMockInvoker({ crm: { find_user: { id: 1 } } })`. */
export function createMockInvoker(
  servers: Readonly<Record<string, Readonly<Record<string, MockTool>>>>,
): MockInvoker {
  const calls: ToolCall[] = [];
  return {
    specificationVersion: "v1",
    calls,
    async invoke(call, { signal }) {
      calls.push(call);
      const { server, tool, args } = call;
      const details = { server, tool };
      if (signal.aborted) {
        return { ok: false, error: { code: "ABORTED", message: "The call was cancelled.", details } };
      }
      const tools = Object.hasOwn(servers, server) ? servers[server] : undefined;
      const answer = tools !== undefined && Object.hasOwn(tools, tool) ? tools[tool] : undefined;
      if (answer === undefined) {
        const [near] = nearest(tool, Object.keys(tools ?? {}));
        const hint = near === undefined ? "Add it to createMockInvoker." : `Did you mean "${near}"?`;
        const message = `There is no mock of ${server}.${tool}. ${hint}`;
        return { ok: false, error: { code: "TOOL_NOT_FOUND", message, details } };
      }
      try {
        return { ok: true, value: typeof answer === "function" ? await answer(args, call) : answer };
      } catch (error) {
        const info = toErrorInfo(error);
        return {
          ok: false,
          error: info.code === "UNEXPECTED" ? { ...info, code: "TOOL_FAILED", details } : info,
        };
      }
    },
  };
}
