import type { Client, JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { z } from "zod";
import type { JsonValue } from "@cem/core";
import { NO_SDK_TIMEOUT_MS } from "./sdk-timeout.ts";

/** What a list request returns, by method: the key that holds the list. */
const LIST_KEYS = {
  "tools/list": "tools",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
  "prompts/list": "prompts",
} as const;
export type ListMethod = keyof typeof LIST_KEYS;

/** Where the list waits, out of the SDK's sight. */
const RAW_KEY = "cem.rawItems";
const pageSchema = z.looseObject({
  [RAW_KEY]: z.array(z.unknown()).optional(),
  nextCursor: z.string().optional(),
});

/**
 * The SDK refuses a whole list for one bad item. This lets it check the envelope only: the items are put
 * aside as they came, for {@link fetchRawList} to hand out.
 */
export function keepListsRaw(transport: Transport): void {
  const pending = new Map<string | number, string>();
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if ("method" in message && "id" in message && message.id !== undefined && message.method in LIST_KEYS) {
      pending.set(message.id, LIST_KEYS[message.method as ListMethod]);
    }
    return send(message, options);
  };
  const previous = transport.onmessage;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has handlers only
  transport.onmessage = (message, extra) => {
    previous?.(message, extra);
    setAside(message, pending);
  };
}

/** The SDK calls a handler that was there before its own with the same message, so changing it is seen. */
function setAside(message: JSONRPCMessage, pending: Map<string | number, string>): void {
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

export interface ListBounds {
  maxPages: number;
  maxItems: number;
  maxBytes: number;
}

const DEFAULT_LIST_BOUNDS: Readonly<ListBounds> = Object.freeze({
  maxPages: 1_000,
  maxItems: 10_000,
  maxBytes: 32 * 1024 * 1024,
});

export interface RawList {
  items: JsonValue[];
  /** Why the list ends before the server's own end. */
  cut?: string | undefined;
  /** Round trip of the first page, in milliseconds. */
  firstPageMs: number;
}

/** Walks all pages of a list and returns the items as the server sent them. */
export async function fetchRawList(
  client: Client,
  method: ListMethod,
  options: { signal: AbortSignal; bounds?: ListBounds | undefined },
): Promise<RawList> {
  const bounds = options.bounds ?? DEFAULT_LIST_BOUNDS;
  const items: JsonValue[] = [];
  const seen = new Set<string>();
  let bytes = 0;
  let firstPageMs = 0;
  let cursor: string | undefined;
  for (let page = 0; page < bounds.maxPages; page += 1) {
    const start = performance.now();
    const result = await client.request(
      { method, ...(cursor === undefined ? {} : { params: { cursor } }) },
      pageSchema,
      { signal: options.signal, timeout: NO_SDK_TIMEOUT_MS },
    );
    if (page === 0) firstPageMs = performance.now() - start;
    for (const item of (result[RAW_KEY] ?? []) as JsonValue[]) {
      bytes += sizeOf(item);
      if (bytes > bounds.maxBytes)
        return { items, cut: `it is longer than ${bounds.maxBytes} bytes`, firstPageMs };
      if (items.length >= bounds.maxItems)
        return { items, cut: `it has more than ${bounds.maxItems} items`, firstPageMs };
      items.push(item);
    }
    cursor = result.nextCursor;
    if (cursor === undefined) return { items, firstPageMs };
    if (seen.has(cursor)) return { items, cut: "its pages repeat", firstPageMs };
    seen.add(cursor);
  }
  return { items, cut: `it has more than ${bounds.maxPages} pages`, firstPageMs };
}

/** Nested too deeply to be written again: counted as if it filled the list. */
function sizeOf(item: JsonValue): number {
  try {
    return JSON.stringify(item).length;
  } catch {
    return 0;
  }
}
