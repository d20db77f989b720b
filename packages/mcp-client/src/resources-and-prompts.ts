import type { JsonObject, JsonValue } from "@cem/core";
import * as z from "zod";
import type { CallOptions } from "./connection-types.ts";
import { fetchRawList } from "./raw-lists.ts";
import type { ListMethod } from "./raw-lists.ts";
import type { ServerClient } from "./server-client.ts";
import { NO_SDK_TIMEOUT_MS } from "./sdk-timeout.ts";

const LISTS = {
  resources: { method: "resources/list", capability: "resources" },
  resourceTemplates: { method: "resources/templates/list", capability: "resources" },
  prompts: { method: "prompts/list", capability: "prompts" },
} as const satisfies Record<string, { method: ListMethod; capability: "resources" | "prompts" }>;

/** What can be listed besides tools. */
export type ListKind = keyof typeof LISTS;

/** Resources, resource templates or prompts. */
export interface ListedItems {
  /** The items as the server sent them. */
  items: JsonValue[];
  /** Why the list is incomplete. Absent for a complete one. */
  cut?: string | undefined;
}

/** A request to read or watch a resource, to render a prompt or to complete an argument of one. */
export type ServerRequest =
  | { method: "resources/read"; params: { uri: string } }
  | { method: "prompts/get"; params: { name: string; arguments?: Record<string, string> | undefined } }
  | { method: "completion/complete"; params: JsonObject }
  | { method: "resources/subscribe" | "resources/unsubscribe"; params: { uri: string } };

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
