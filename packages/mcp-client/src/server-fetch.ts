import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { BlockList } from "node:net";
import type { FetchLike } from "@modelcontextprotocol/client";
import { CemError } from "@cem/core";

/** One answer of a server, or one line of its event stream. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

export interface ServerFetchSettings {
  url: string;
  /** Sent to the server's own origin only. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * The fetch that a server's transport and its sign-in use. The configured headers go to the server's own
 * origin and nowhere else; bodies are bounded; and addresses that the server names (where to sign in) may
 * not lead from a public server into a private network.
 */
export function createServerFetch(settings: ServerFetchSettings): FetchLike {
  const server = new URL(settings.url);
  return async (input, init) => {
    const url = new URL(input);
    if (url.origin !== server.origin) await assertReachableFrom(server, url);
    const headers = new Headers(init?.headers);
    if (url.origin === server.origin) {
      for (const [name, value] of Object.entries(settings.headers ?? {})) {
        if (!headers.has(name)) headers.set(name, value);
      }
    }
    // Node refuses credentials in a URL; they belong in a header.
    if (url.username !== "" || url.password !== "") {
      const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
      if (!headers.has("authorization")) {
        headers.set("authorization", `Basic ${Buffer.from(credentials).toString("base64")}`);
      }
      url.username = "";
      url.password = "";
    }
    const redirect = init?.redirect ?? (url.origin === server.origin ? "follow" : "error");
    return bounded(await fetchOnceMore(url, { ...init, headers, redirect }));
  };
}

/** A server may drop an idle connection just as it is used again. What only reads can be asked once more. */
async function fetchOnceMore(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
    const isStale = cause?.code === "ECONNRESET" || cause?.code === "UND_ERR_SOCKET";
    if (!isStale || (init.method ?? "GET") !== "GET" || init.signal?.aborted === true) throw error;
    return fetch(url, init);
  }
}

function bounded(response: Response): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const newline = isStream ? chunk.lastIndexOf(0x0a) : -1;
      bytes = newline === -1 ? bytes + chunk.length : chunk.length - newline - 1;
      if (bytes > MAX_BODY_BYTES) throw new RangeError(`The server sent more than ${MAX_BODY_BYTES} bytes.`);
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  const copy = new Response(response.body.pipeThrough(counter), { status, statusText, headers });
  Object.defineProperty(copy, "url", { value: response.url });
  return copy;
}

const privateAddresses = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const) {
  privateAddresses.addSubnet(network, prefix, "ipv4");
}
for (const [network, prefix] of [
  ["::", 127],
  ["64:ff9b::", 96],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const) {
  privateAddresses.addSubnet(network, prefix, "ipv6");
}

async function assertReachableFrom(server: URL, target: URL): Promise<void> {
  if (target.protocol !== "https:" && target.protocol !== "http:")
    throw refused(target, "is not an HTTP address");
  const targetAddresses = await addressesOf(target);
  if (!targetAddresses.some(isPrivate)) return;
  const serverAddresses = await addressesOf(server);
  if (serverAddresses.length > 0 && serverAddresses.every(isPrivate)) return;
  throw refused(target, "is inside a private network, which a public server may not send us to");
}

async function addressesOf(url: URL): Promise<string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return [host];
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch {
    return [];
  }
}

function isPrivate(address: string): boolean {
  return privateAddresses.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

function refused(target: URL, why: string): CemError {
  return new CemError("ADDRESS_REFUSED", `${target.origin} ${why}.`, { details: { origin: target.origin } });
}
