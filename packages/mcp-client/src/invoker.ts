import { CemError, toErrorInfo } from "@cem/core";
import type { JsonObject, JsonSchema, JsonValue, ToolCall, ToolInvoker } from "@cem/core";
import { nearest } from "@cem/text";
import { abandonOnAbort } from "./abort.ts";
import { createArgumentValidator } from "./argument-validation.ts";
import type { ArgumentValidator } from "./argument-validation.ts";
import type { McpConnections } from "./connections.ts";
import type { Progress } from "./connection-types.ts";
import { DEFAULT_MAX_INLINE_BYTES, fitValue, mapToolResult } from "./result-mapping.ts";
import type { ResultStore } from "./result-store.ts";
import { isServerRequest } from "./server-request-names.ts";
import { answerServerRequest } from "./server-requests.ts";

/** What the bridge has to know of a tool. */
export interface KnownTool {
  /** The name its server calls it by. */
  name: string;
  inputSchema: JsonSchema;
  /** Set: the arguments are not checked, for this reason. */
  unvalidated?: string;
}

export interface McpInvokerSettings {
  /**
   * Finds a tool by the name code uses. Give the same object for the same definition, so that its schema is
   * compiled once. Default: the list of the server itself.
   */
  findTool?: (server: string, tool: string) => KnownTool | undefined | Promise<KnownTool | undefined>;
  /** Whether this run may call a tool; a string says why not. Default: every known tool. */
  isAllowed?: (call: ToolCall) => boolean | string;
  /** Keeps images, other bytes and large results. Absent: they come back as data, up to a bound. */
  store?: ResultStore;
  /** In bytes of JSON. Default: {@link DEFAULT_MAX_INLINE_BYTES}. */
  maxInlineBytes?: number;
  /** Shares compiled schemas between invokers. */
  validator?: ArgumentValidator;
  /** Told once for each tool whose arguments go unchecked. */
  onUnvalidated?: (tool: { server: string; tool: string; reason: string }) => void;
  onProgress?: (call: ToolCall, progress: Progress) => void;
  /** A person is being asked (true), or has answered (false): the run's clock may stop meanwhile. */
  onWaiting?: (isWaiting: boolean) => void;
}

/** Calls tools of MCP servers for guest code, checking each call first. Never throws. */
export function createMcpInvoker(
  connections: McpConnections,
  settings: McpInvokerSettings = {},
): ToolInvoker {
  const { store, maxInlineBytes = DEFAULT_MAX_INLINE_BYTES } = settings;
  const validator = settings.validator ?? createArgumentValidator();
  const reported = new Set<string>();
  const findTool = settings.findTool ?? findListed(connections);

  const reportUnvalidated = (server: string, tool: string, reason: string): void => {
    const key = JSON.stringify([server, tool]);
    if (reported.has(key)) return;
    reported.add(key);
    settings.onUnvalidated?.({ server, tool, reason });
  };

  const assertAllowed = (call: ToolCall): void => {
    const answer = settings.isAllowed?.(call) ?? true;
    if (answer === true) return;
    const why = answer === false ? "it is not among the tools of this run" : answer;
    throw new CemError("TOOL_NOT_ALLOWED", `${call.server}.${call.tool} may not be called: ${why}.`, {
      details: { server: call.server, tool: call.tool },
    });
  };

  const assertValid = async (call: ToolCall, known: KnownTool, args: JsonObject): Promise<void> => {
    const { server, tool } = call;
    if (known.unvalidated !== undefined) return reportUnvalidated(server, tool, known.unvalidated);
    const check = await validator.prepare(known.inputSchema);
    if (!check.validated) return reportUnvalidated(server, tool, check.reason);
    const violation = check.check(args);
    if (violation === undefined) return;
    throw new CemError(
      "ARGUMENTS_INVALID",
      `The arguments of ${server}.${tool} are not valid: ${violation.message}.`,
      { details: { server, tool, argument: violation.argument } },
    );
  };

  const answer = async (call: ToolCall, signal: AbortSignal): ReturnType<ToolInvoker["invoke"]> => {
    const options = {
      signal,
      onProgress: (progress: Progress) => settings.onProgress?.(call, progress),
      onWaiting: settings.onWaiting,
    };
    const { server, tool } = call;
    if (isServerRequest(tool)) {
      assertAllowed(call);
      const request = { server, tool, args: toObject(call) };
      const value = await answerServerRequest(connections, request, options, { store, maxInlineBytes });
      const name = tool.split("/").at(-1) ?? tool;
      return { ok: true, value: await fitValue({ server, name }, value, { store, maxInlineBytes }) };
    }
    const known = await abandonOnAbort(Promise.resolve(findTool(server, tool)), signal);
    if (known === undefined) throw await unknownTool(connections, call, signal);
    assertAllowed(call);
    const args = toObject(call);
    await assertValid(call, known, args);
    const raw = await connections.callTool(server, known.name, args, options);
    return mapToolResult({ server, name: tool }, raw, { store, maxInlineBytes });
  };

  return {
    specificationVersion: "v1",
    async invoke(call, { signal }) {
      try {
        return await answer(call, signal);
      } catch (error) {
        if (!signal.aborted) return { ok: false, error: toErrorInfo(error) };
        const { server, tool } = call;
        const message = `The call of ${server}.${tool} was cancelled.`;
        return { ok: false, error: { code: "CALL_CANCELLED", message, details: { server, tool } } };
      }
    },
  };
}

function findListed(connections: McpConnections): NonNullable<McpInvokerSettings["findTool"]> {
  return async (server, tool) => {
    const { tools } = await connections.listTools(server);
    return tools.find(({ name }) => name === tool);
  };
}

/** Code that calls a tool without arguments sends none. */
function toObject({ server, tool, args }: ToolCall): JsonObject {
  const value = args as JsonValue | undefined;
  if (value === undefined || value === null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value;
  throw new CemError(
    "ARGUMENTS_INVALID",
    `The arguments of ${server}.${tool} must be one object, such as { name: value }.`,
    { details: { server, tool, argument: "" } },
  );
}

async function unknownTool(
  connections: McpConnections,
  call: ToolCall,
  signal: AbortSignal,
): Promise<CemError> {
  const { server, tool } = call;
  // Throws for a server that does not exist, which says more.
  const list = connections.knownTools(server) ?? (await connections.listTools(server, { signal }));
  const leftOut = list.leftOut.find(({ name }) => name === tool);
  const [near] = nearest(
    tool,
    list.tools.map(({ name }) => name),
  );
  const hint =
    leftOut !== undefined
      ? `It is left out: ${leftOut.reason}.`
      : near === undefined || near === tool
        ? `\`cem tools ${server}\` lists what there is.`
        : `Did you mean "${near}"?`;
  return new CemError("TOOL_UNKNOWN", `Server "${server}" has no tool "${tool}". ${hint}`, {
    details: { server, tool },
  });
}
