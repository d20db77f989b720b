import { callAborted, CemError, toErrorInfo, toolNotFound } from "@cem/core";
import type { JsonValue, ToolCall, ToolInvoker } from "@cem/core";

/** The result of a mocked tool: a value, or a function of the arguments. If the function throws, the call fails. */
export type MockTool = JsonValue | ((args: JsonValue, call: ToolCall) => JsonValue | Promise<JsonValue>);

/** An invoker of mocked tools, which records its calls. */
export interface MockInvoker extends ToolInvoker {
  /** Every call so far, in order. */
  readonly calls: readonly ToolCall[];
}

/**
 * Creates an invoker for tests without tools or servers. A tool that is not mocked fails with
 * `TOOL_NOT_FOUND`.
 *
 * @param servers - The mocked tools by server and name: `{ crm: { find_user: { id: 1 } } }`.
 */
export function createMockInvoker(
  servers: Readonly<Record<string, Readonly<Record<string, MockTool>>>>,
): MockInvoker {
  const calls: ToolCall[] = [];
  return {
    specificationVersion: "v1",
    calls,
    async invoke(call, { signal }) {
      calls.push(call);
      try {
        if (signal.aborted) throw callAborted(call);
        const answer = mockOf(servers, call);
        return { ok: true, value: typeof answer === "function" ? await answer(call.args, call) : answer };
      } catch (error) {
        return {
          ok: false,
          error: toErrorInfo(CemError.isInstance(error) ? error : toolFailed(call, error)),
        };
      }
    },
  };
}

function mockOf(servers: Parameters<typeof createMockInvoker>[0], call: ToolCall): MockTool {
  const tools = ownProperty(servers, call.server) ?? {};
  const mock = ownProperty(tools, call.tool);
  if (mock !== undefined) return mock;
  throw toolNotFound(call, Object.keys(tools));
}

function ownProperty<T>(object: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function toolFailed({ server, tool }: ToolCall, thrown: unknown): CemError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new CemError("TOOL_FAILED", message, { details: { server, tool }, cause: thrown });
}
