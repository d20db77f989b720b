import type { JsonObject } from "@cem/core";
import * as z from "zod";
import { NO_SDK_TIMEOUT_MS } from "../transport/running-calls.ts";
import type { CallOptions, ListedItems, ListKind, ServerRequest } from "./connection-types.ts";
import type { ServerClient } from "./server-client.ts";
import { fetchRawList } from "./tool-list.ts";
import type { ListMethod } from "./tool-list.ts";

const LISTS = {
  resources: { method: "resources/list", capability: "resources" },
  resourceTemplates: { method: "resources/templates/list", capability: "resources" },
  prompts: { method: "prompts/list", capability: "prompts" },
} as const satisfies Record<ListKind, { method: ListMethod; capability: "resources" | "prompts" }>;

/** Lists all items of one kind. The list is empty for a server without the capability. */
export async function listItems(
  server: ServerClient,
  kind: ListKind,
  options: CallOptions,
): Promise<ListedItems> {
  const { method, capability } = LISTS[kind];
  return server.request(method, options, async ({ client }, running) => {
    if (client.getServerCapabilities()?.[capability] === undefined) return { items: [] };
    const { items, cut } = await fetchRawList(client, method, running);
    return { items, cut };
  });
}

const anyResult = z.looseObject({});

/** Sends a {@link ServerRequest} and returns the server's result. A server that completes nothing has no values. */
export async function runRequest(
  server: ServerClient,
  request: ServerRequest,
  options: CallOptions,
): Promise<JsonObject> {
  return server.request(request.method, options, async ({ client }, { signal, onProgress }) => {
    if (
      request.method === "completion/complete" &&
      client.getServerCapabilities()?.completions === undefined
    ) {
      return { completion: { values: [] } };
    }
    const sdkOptions = { signal, timeout: NO_SDK_TIMEOUT_MS, onprogress: onProgress };
    return (await client.request(request, anyResult, sdkOptions)) as JsonObject;
  });
}
