import type { ToolList } from "./connection-types.ts";
import type { OpenClient } from "./open-client.ts";
import { fetchRawList } from "./raw-lists.ts";
import { readToolDefinitions } from "./tool-definitions.ts";

/** Reads all tools of a connected server. */
export async function fetchToolList(
  open: OpenClient,
  options: { signal: AbortSignal },
): Promise<{ list: ToolList; latencyMs: number }> {
  const { client } = open;
  const server = client.getServerVersion();
  const list: ToolList = {
    tools: [],
    leftOut: [],
    server: { name: server?.name ?? "", version: server?.version ?? "" },
    protocol: client.getNegotiatedProtocolVersion() ?? "",
  };
  const instructions = client.getInstructions();
  if (instructions !== undefined) list.instructions = instructions;
  if (client.getServerCapabilities()?.tools === undefined) return { list, latencyMs: 0 };

  const raw = await fetchRawList(client, "tools/list", options);
  const checkHeaders = open.transportKind === "http" && client.getProtocolEra() === "modern";
  Object.assign(list, readToolDefinitions(raw.items, { checkHeaders }));
  if (raw.cut !== undefined) list.cut = raw.cut;
  return { list, latencyMs: raw.firstPageMs };
}
