import type { JsonSchema, ToolCall, ToolInvoker } from "@cem/core";

/** What the bridge has to know of a tool. */
export interface KnownTool {
  /** The name its server calls it by. */
  name: string;
  /** What its arguments are checked against. Absent: the tool checks them itself. */
  inputSchema?: JsonSchema;
  /** Set: the arguments are not checked, for this reason. */
  unvalidated?: string;
}

/** The tools of one kind, such as those of MCP servers. Its `invoke` takes calls that were checked. */
export interface ToolSide extends ToolInvoker {
  /**
   * Finds a tool by the name code uses; `undefined` when its server belongs to another side. Give the same schema
   * object for the same definition, so that it is compiled once.
   *
   * @throws CemError `TOOL_UNKNOWN` or `SERVER_UNKNOWN`, saying what there is.
   */
  find(call: ToolCall, signal: AbortSignal): KnownTool | undefined | Promise<KnownTool | undefined>;
}

/** Several sides as one: a call goes to the first that knows its tool. An invoker that is no side checks its own calls. */
export function joinSides(sides: readonly (ToolSide | ToolInvoker)[]): ToolSide {
  const all = sides.map(asSide);
  return {
    specificationVersion: "v1",
    async find(call, signal) {
      for (const side of all) {
        const known = await side.find(call, signal);
        if (known !== undefined) return known;
      }
      return undefined;
    },
    async invoke(call, context) {
      for (const side of all) {
        if ((await side.find(call, context.signal)) !== undefined) return side.invoke(call, context);
      }
      const { server, tool } = call;
      const message = `There is no tool ${server}.${tool} on the host.`;
      return { ok: false, error: { code: "TOOL_UNKNOWN", message, details: { server, tool } } };
    },
  };
}

function asSide(invoker: ToolSide | ToolInvoker): ToolSide {
  if ("find" in invoker) return invoker;
  return {
    specificationVersion: "v1",
    find: ({ tool }) => ({ name: tool }),
    invoke: (call, context) => invoker.invoke(call, context),
  };
}
