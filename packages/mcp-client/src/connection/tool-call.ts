import { replaceLongNumbers } from "@cem/bridge";
import { MAX_TIMER_MS, type JsonObject, type JsonSchema, type JsonValue } from "@cem/core";
import { failSpan, measure, traceCarrier, traced } from "@cem/core/telemetry";
import { ProtocolError, type RequestOptions, type Tool } from "@modelcontextprotocol/client";
import * as z from "zod";
import type { RawToolResult } from "./connection-types.ts";
import type { RunOptions } from "./connection.ts";
import type { OpenClient } from "./open-client.ts";
import { toRawResult } from "./raw-result.ts";

/** JSON-RPC code for arguments that are missing in HTTP headers. */
const HEADER_MISMATCH = -32_020;

const MS_PER_SECOND = 1_000;

/** A schema that accepts any result. */
export const ANY_RESULT = z.looseObject({});

/** TypeScript does not know it yet. */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => JsonValue };

interface ToolCallOptions extends Pick<RunOptions, "signal" | "onProgress"> {
  /** Returns the tool's definition in the last list. */
  findTool: () => { inputSchema: JsonSchema } | undefined;
  /** Fetches the list of tools again. */
  refresh: () => Promise<unknown>;
}

/**
 * Calls a tool and returns its result unchanged. If the server requires arguments in HTTP headers that it declared after
 * the last list, the list is refreshed and the call retried once.
 */
export async function callTool(
  open: OpenClient,
  tool: string,
  args: JsonObject,
  options: ToolCallOptions,
): Promise<RawToolResult> {
  const send = (): Promise<RawToolResult> => inSpan(open, tool, () => request(open, tool, args, options));
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof ProtocolError) || error.code !== HEADER_MISMATCH) throw error;
    await options.refresh();
    return send();
  }
}

/** Sends a call within a span, which is propagated to the server as the parent. */
function inSpan(open: OpenClient, tool: string, send: () => Promise<RawToolResult>): Promise<RawToolResult> {
  const { client, transportKind } = open;
  const version = client.getNegotiatedProtocolVersion();
  const attributes = {
    "mcp.method.name": "tools/call",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": tool,
    "network.transport": transportKind === "stdio" ? "pipe" : "tcp",
    ...(version === undefined ? {} : { "mcp.protocol.version": version }),
  };
  const started = performance.now();
  return traced(`tools/call ${tool}`, { kind: "client", attributes }, async (span) => {
    try {
      const result = await send();
      if (result.isError) failSpan(span, "tool_error");
      return result;
    } finally {
      measure("clientOperation", (performance.now() - started) / MS_PER_SECOND, {
        "mcp.method.name": "tools/call",
        "network.transport": attributes["network.transport"],
      });
    }
  });
}

async function request(
  { client, process, transportKind }: OpenClient,
  tool: string,
  args: JsonObject,
  { signal, onProgress, findTool }: ToolCallOptions,
): Promise<RawToolResult> {
  const trace = traceCarrier();
  const listed = findTool();
  const toNumber = (found: JsonValue): JsonValue => (typeof found === "string" ? rawJSON(found) : found);
  const exact = listed === undefined ? args : replaceLongNumbers(args, listed.inputSchema, toNumber);
  const params = { name: tool, arguments: exact, ...(trace === undefined ? {} : { _meta: { ...trace } }) };
  const isModern = client.getProtocolEra() === "modern";
  if (process !== undefined && !isModern)
    return toRawResult(await process.request("tools/call", params, { signal, onProgress }));
  // Calls have their own deadline.
  const sdkOptions: RequestOptions = { signal, timeout: MAX_TIMER_MS, onprogress: onProgress };
  const known = transportKind === "http" && isModern ? listed : undefined;
  const result =
    known === undefined
      ? await client.request({ method: "tools/call", params }, ANY_RESULT, sdkOptions)
      : await client.callTool(params, {
          ...sdkOptions,
          toolDefinition: { name: tool, inputSchema: known.inputSchema as Tool["inputSchema"] },
        });
  return toRawResult(result);
}
