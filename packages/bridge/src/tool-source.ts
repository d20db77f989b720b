import { CemError } from "@cem/core";
import type {
  InvokeContext,
  JsonSchema,
  JsonValue,
  ToolAnnotations,
  ToolCall,
  ToolInvoker,
  ToolResult,
} from "@cem/core";

/** A tool as its source knows it. */
export interface KnownTool {
  /** The name that the tool's server uses. */
  name: string;
  /** The schema that arguments are checked against. Absent when the tool checks them itself. */
  inputSchema?: JsonSchema | undefined;
  /** The schema that the source checks results against. Absent when there is none, or the tool checks them itself. */
  outputSchema?: JsonSchema | undefined;
  /** The author's hints about the tool's effects. */
  annotations?: ToolAnnotations | undefined;
  /** Whether its source sends a text of digits as a number where the schema requires a number. */
  keepsDigits?: boolean | undefined;
  /** Whether the tool's code runs in a sandbox. Absent when it runs on the host or elsewhere. */
  sandboxed?: boolean | undefined;
  /** The reason why arguments are not checked. Absent when they are. */
  unvalidated?: string | undefined;
  /**
   * The scope in which calls of serial tools of the same server are executed one after the other: all calls, or those of one
   * session. Absent if calls may run concurrently.
   */
  serial?: "server" | "session" | undefined;
}

/** A checked call, with its tool, so that it need not be looked up again. */
export interface CheckedCall extends ToolCall {
  found?: KnownTool | undefined;
  /** The arguments with numbers for texts that the source sends as numbers. They may be rounded. Absent if there are none. */
  asNumbers?: JsonValue | undefined;
}

/** The result of a lookup, synchronous if it is known already. */
type Found = KnownTool | undefined | Promise<KnownTool | undefined>;

/** Tools of one origin, such as functions of the host or MCP servers. */
export interface ToolSource extends ToolInvoker {
  /**
   * Looks a tool up by its name in code. `inputSchema` should be the same object for the same definition, so that it is
   * compiled once.
   *
   * @returns `undefined` when the source does not have the server.
   * @throws CemError `TOOL_NOT_FOUND` when the source has the server but not the tool; `SERVER_NOT_FOUND`.
   */
  find(call: ToolCall, signal: AbortSignal): Found;
  /** Executes a call that was checked. */
  invoke(call: CheckedCall, context: InvokeContext): Promise<ToolResult>;
}

/**
 * Combines several sources into one. A call goes to the first source that finds its tool.
 *
 * @param sources - In order of precedence. An invoker without `find` gets all calls of servers that no source before it
 *   has, and must check them itself.
 * @returns a source. Its `find` throws the error of the first source that has the server but not the tool, and its
 *   `invoke` looks a tool up only if the call has not been checked.
 */
export function combineSources(sources: readonly (ToolSource | ToolInvoker)[]): ToolSource {
  /** The source of each tool that was found. */
  const owners = new WeakMap<KnownTool, ToolInvoker>();

  /** Asks the sources from an index on. Only asynchronous lookups are awaited. */
  const findFrom = (at: number, call: ToolCall, signal: AbortSignal, firstError?: unknown): Found => {
    const source = sources[at];
    if (source === undefined) {
      if (firstError !== undefined) throw firstError as Error;
      return undefined;
    }
    const take = (known: KnownTool | undefined): Found => {
      if (known === undefined) return findFrom(at + 1, call, signal, firstError);
      owners.set(known, source);
      return known;
    };
    // A later source may have a server of the same name.
    const skip = (error: unknown): Found => findFrom(at + 1, call, signal, firstError ?? error);
    if (!("find" in source)) return take(firstError === undefined ? { name: call.tool } : undefined);
    let found: Found;
    try {
      found = source.find(call, signal);
    } catch (error) {
      return skip(error);
    }
    return found instanceof Promise ? found.then(take, skip) : take(found);
  };

  return {
    specificationVersion: "v1",
    find: (call, signal) => findFrom(0, call, signal),
    async invoke(call: CheckedCall, context) {
      const { server, tool, args } = call;
      const isFound = call.found !== undefined && owners.has(call.found);
      const found = isFound ? call.found : await findFrom(0, call, context.signal);
      const owner = found && owners.get(found);
      if (owner === undefined) throw notOnHost(call);
      const checked: CheckedCall = { server, tool, args, found };
      // An invoker that checks calls itself only gets the fields of the port.
      return await owner.invoke("find" in owner ? checked : { server, tool, args }, context);
    },
  };
}

/** Creates the error for a call of a server that no source has. The server may have tools in the sandbox. */
export function notOnHost({ server, tool }: ToolCall): CemError {
  return new CemError("TOOL_NOT_FOUND", `There is no tool ${server}.${tool} on the host.`, {
    details: { server, tool },
  });
}
