import type { ToolList } from "./connection-types.ts";
import type { OpenClient } from "./open-client.ts";
import { fetchRawList } from "./raw-lists.ts";
import { readToolDefinitions } from "./tool-definitions.ts";

/**
 * Fetches all tools of a connected server. The list is empty for a server without the `tools` capability.
 *
 * @returns the list, and the round trip of its first page in milliseconds.
 */
export async function fetchToolList(
  open: OpenClient,
  options: { signal: AbortSignal },
): Promise<{ list: ToolList; latencyMs: number }> {
  const { client } = open;
  const server = client.getServerVersion();
  const capabilities = client.getServerCapabilities() ?? {};
  const description = {
    server: { name: server?.name ?? "", version: server?.version ?? "" },
    protocol: client.getNegotiatedProtocolVersion() ?? "",
    instructions: client.getInstructions(),
    offers: { resources: capabilities.resources !== undefined, prompts: capabilities.prompts !== undefined },
  };
  if (capabilities.tools === undefined) {
    return { list: { tools: [], byName: new Map(), leftOut: [], ...description }, latencyMs: 0 };
  }
  const { items, cut, firstPageMs } = await fetchRawList(client, "tools/list", options);
  const checkHeaders = open.transportKind === "http" && client.getProtocolEra() === "modern";
  const { tools, leftOut } = readToolDefinitions(items, { checkHeaders });
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return { list: { tools, byName, leftOut, cut, ...description }, latencyMs: firstPageMs };
}
