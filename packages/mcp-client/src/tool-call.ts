import type { JsonObject, JsonSchema, JsonValue } from "@cem/core";
import { ProtocolError } from "@modelcontextprotocol/client";
import type { RequestOptions, Tool } from "@modelcontextprotocol/client";
import { z } from "zod";
import type { CallOptions, RawToolResult } from "./connection-types.ts";
import type { OpenClient } from "./open-client.ts";
import { NO_SDK_TIMEOUT_MS } from "./sdk-timeout.ts";

/** The server wants arguments repeated in HTTP headers that we did not know of. */
const HEADER_MISMATCH = -32_020;

const resultSchema = z.looseObject({
  content: z.array(z.unknown()).optional(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});

export interface ToolCallOptions {
  signal: AbortSignal;
  onProgress: NonNullable<CallOptions["onProgress"]>;
  /** The definition as of the last list. */
  findTool: () => { inputSchema: JsonSchema } | undefined;
  /** Fetches the definitions anew. */
  refresh: () => Promise<void>;
}

/** Calls a tool and returns its answer unchanged, whichever generation of the protocol is spoken. */
export async function callTool(
  open: OpenClient,
  tool: string,
  args: JsonObject,
  options: ToolCallOptions,
): Promise<RawToolResult> {
  try {
    return await send(open, tool, args, options);
  } catch (error) {
    if (!(error instanceof ProtocolError) || error.code !== HEADER_MISMATCH) throw error;
    await options.refresh();
    return send(open, tool, args, options);
  }
}

async function send(
  { client, transportKind }: OpenClient,
  tool: string,
  args: JsonObject,
  { signal, onProgress, findTool }: ToolCallOptions,
): Promise<RawToolResult> {
  const params = { name: tool, arguments: args };
  const sdkOptions: RequestOptions = { signal, timeout: NO_SDK_TIMEOUT_MS, onprogress: onProgress };
  const usesHeaders = transportKind === "http" && client.getProtocolEra() === "modern";
  const known = usesHeaders ? findTool() : undefined;
  const result =
    known === undefined
      ? await client.request({ method: "tools/call", params }, resultSchema, sdkOptions)
      : await client.callTool(params, {
          ...sdkOptions,
          toolDefinition: { name: tool, inputSchema: known.inputSchema as Tool["inputSchema"] },
        });
  return {
    content: (result.content ?? []) as JsonValue[],
    isError: result.isError === true,
    ...(result.structuredContent === undefined
      ? {}
      : { structuredContent: result.structuredContent as JsonValue }),
  };
}
