import { CemError } from "@cem/core";
import type { InvokeContext, JsonSchema, ToolCall, ToolInvoker, ToolResult } from "@cem/core";

/** What the bridge has to know of a tool. */
export interface KnownTool {
  /** The name its server calls it by. */
  name: string;
  /** What its arguments are checked against. Absent: the tool checks them itself. */
  inputSchema?: JsonSchema | undefined;
  /** Set: the arguments are not checked, for this reason. */
  unvalidated?: string | undefined;
}

/** A call that was checked, with the tool as it was found then: it need not be looked for again. */
export interface CheckedCall extends ToolCall {
  found?: KnownTool | undefined;
}

/** The tools of one kind, such as those of MCP servers. Its `invoke` takes calls that were checked. */
export interface ToolSource extends ToolInvoker {
  /**
   * Finds a tool by the name code uses; `undefined` when its server belongs to another side. Give the same schema
   * object for the same definition, so that it is compiled once.
   *
   * @throws CemError `TOOL_NOT_FOUND` or `SERVER_NOT_FOUND`, saying what there is.
   */
  find(call: ToolCall, signal: AbortSignal): KnownTool | undefined | Promise<KnownTool | undefined>;
  invoke(call: CheckedCall, context: InvokeContext): Promise<ToolResult>;
}

/**
 * Several sides as one: a call goes to the first that knows its tool. An invoker that is no side checks its own calls,
 * and gets those of servers that nobody before it knows.
 */
export function combineSources(sides: readonly (ToolSource | ToolInvoker)[]): ToolSource {
  const owners = new WeakMap<KnownTool, ToolInvoker>();
  const locate = async (
    call: ToolCall,
    signal: AbortSignal,
  ): Promise<{ side: ToolInvoker; known: KnownTool } | undefined> => {
    let refusal: unknown;
    for (const side of sides) {
      if (!("find" in side)) {
        if (refusal === undefined) return { side, known: { name: call.tool } };
        continue;
      }
      try {
        const known = await side.find(call, signal);
        if (known !== undefined) return { side, known };
      } catch (error) {
        // Another side may have a server of the same name; the first one's words are the better ones.
        refusal ??= error;
      }
    }
    if (refusal !== undefined) throw refusal as Error;
    return undefined;
  };
  return {
    specificationVersion: "v1",
    async find(call, signal) {
      const located = await locate(call, signal);
      if (located !== undefined) owners.set(located.known, located.side);
      return located?.known;
    },
    async invoke(call, context) {
      const owner = call.found === undefined ? undefined : owners.get(call.found);
      const side = owner ?? (await locate(call, context.signal))?.side;
      if (side === undefined) throw unknownCall(call);
      const { server, tool, args } = call;
      return side.invoke("find" in side ? call : { server, tool, args }, context);
    },
  };
}

/** No side has anything under the server's name. */
export function unknownCall({ server, tool }: ToolCall): CemError {
  return new CemError("TOOL_NOT_FOUND", `There is no tool ${server}.${tool} on the host.`, {
    details: { server, tool },
  });
}
