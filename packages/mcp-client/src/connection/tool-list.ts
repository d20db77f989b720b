import { MAX_TIMER_MS, type JsonValue } from "@cem/core";
import { splitWords } from "@cem/core/text";
import type { Client, JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import * as z from "zod";
import type { ListedItems, ToolList } from "./connection-types.ts";
import { readToolDefinitions } from "./tool-definitions.ts";

/** The requests for paginated lists, by the key of the result that holds the list. */
export const LIST_METHODS = {
  tools: "tools/list",
  resources: "resources/list",
  resourceTemplates: "resources/templates/list",
  prompts: "prompts/list",
} as const;
const LIST_KEYS = new Map<string, string>(Object.entries(LIST_METHODS).map(([key, method]) => [method, key]));

/** The key under which the items pass the SDK's validation unread. */
const RAW_KEY = "cem.rawItems";
const pageSchema = z.looseObject({
  [RAW_KEY]: z.array(z.unknown()).optional(),
  nextCursor: z.string().nullish(),
});

/**
 * Makes a transport hide the items of list results from the SDK, which would reject the whole list for one invalid item.
 * {@link fetchRawList} returns them.
 */
export function keepListsRaw(transport: Transport): void {
  const pending = new Map<string | number, string>();
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if ("method" in message && "id" in message) {
      const key = LIST_KEYS.get(message.method);
      if (key !== undefined) pending.set(message.id, key);
    }
    return send(message, options);
  };
  const previous = transport.onmessage;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has handlers only
  transport.onmessage = (message, extra) => {
    previous?.(message, extra);
    keepItems(message, pending);
  };
}

/** Changes the message in place: the SDK calls a previous `onmessage` with the same object before it reads it. */
function keepItems(message: JSONRPCMessage, pending: Map<string | number, string>): void {
  if (!("id" in message) || message.id === undefined || "method" in message) return;
  const key = pending.get(message.id);
  if (key === undefined) return;
  pending.delete(message.id);
  if (!("result" in message)) return;
  const result = message.result as Record<string, unknown>;
  if (Array.isArray(result[key])) {
    result[RAW_KEY] = result[key];
    result[key] = [];
  }
}

/** Limits of a list. Bytes are those of all items and cursors, in characters of JSON. */
const LIST_BOUNDS = { maxPages: 1_000, maxItems: 10_000, maxBytes: 32 * 1024 * 1024 };

/** Fetches all pages of a list within the bounds, with the round trip of the first one's request in milliseconds. */
export async function fetchRawList(
  client: Client,
  method: (typeof LIST_METHODS)[keyof typeof LIST_METHODS],
  { signal, bounds = LIST_BOUNDS }: { signal: AbortSignal; bounds?: typeof LIST_BOUNDS },
): Promise<ListedItems & { firstPageMs: number }> {
  const list = { items: [] as JsonValue[], firstPageMs: 0 };
  const seen = new Set<string>();
  let bytes = 0;
  let cursor: string | undefined;
  for (let page = 0; page < bounds.maxPages; page += 1) {
    const start = performance.now();
    const params = cursor === undefined ? undefined : { cursor };
    const options = { signal, timeout: MAX_TIMER_MS };
    const result = await client.request({ method, params }, pageSchema, options);
    if (page === 0) list.firstPageMs = performance.now() - start;
    if (result[RAW_KEY] === undefined) return { ...list, cut: "the server sent no list" };
    cursor = result.nextCursor ?? undefined;
    bytes += cursor?.length ?? 0;
    for (const item of result[RAW_KEY] as JsonValue[]) {
      bytes += sizeOf(item);
      if (bytes > bounds.maxBytes) break;
      if (list.items.length >= bounds.maxItems)
        return { ...list, cut: `it has more than ${bounds.maxItems} items` };
      list.items.push(item);
    }
    if (bytes > bounds.maxBytes) return { ...list, cut: `it is longer than ${bounds.maxBytes} bytes` };
    if (cursor === undefined) return list;
    if (seen.has(cursor)) return { ...list, cut: "its pages repeat" };
    seen.add(cursor);
  }
  return { ...list, cut: `it has more than ${bounds.maxPages} pages` };
}

/** The size of an item in characters of JSON; 0 if it is nested too deeply, in which case it is left out later. */
function sizeOf(item: JsonValue): number {
  try {
    return JSON.stringify(item).length;
  } catch {
    return 0;
  }
}

/** Fetches all tools of a connected server, with the round trip of the first page in milliseconds. */
export async function fetchToolList(
  { client, transportKind }: { client: Client; transportKind: string },
  options: { signal: AbortSignal },
): Promise<{ list: ToolList; latencyMs: number }> {
  const server = client.getServerVersion();
  const capabilities = client.getServerCapabilities() ?? {};
  const description = {
    server: { name: server?.name ?? "", version: server?.version ?? "" },
    protocol: client.getNegotiatedProtocolVersion() ?? "",
    instructions: client.getInstructions(),
    offers: { resources: capabilities.resources !== undefined, prompts: capabilities.prompts !== undefined },
  };
  const nothing = { items: [], cut: undefined, firstPageMs: 0 };
  const { items, cut, firstPageMs } =
    capabilities.tools === undefined ? nothing : await fetchRawList(client, "tools/list", options);
  const checkHeaders = transportKind === "http" && client.getProtocolEra() === "modern";
  const { tools, leftOut } = readToolDefinitions(items, checkHeaders);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return { list: { tools, byName, leftOut, cut, ...description }, latencyMs: firstPageMs };
}

/** Words in names of tools that leave something open for the next call: a page, a transaction, a login. */
const STATEFUL =
  /^(?:begin|checkout|click|close|commit|connect|disconnect|login|logout|navigate|open|resume|rollback|scroll|session|start|stop|subscribe|tab|tabs|undo)$/u;
/** A single match, as in `open_issue`, means little. */
const MIN_TOOLS = 2;

/** The tools whose names suggest that a server keeps state between calls. Empty for fewer than two. */
export function findStatefulTools(names: readonly string[]): string[] {
  const found = names.filter((name) => splitWords(name).some((word) => STATEFUL.test(word)));
  return found.length < MIN_TOOLS ? [] : found;
}
