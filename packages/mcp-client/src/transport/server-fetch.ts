import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { CemError, createLineSplitter, INTERNAL_IPV4, isObject, parseJson, Shares } from "@cem/core";
import type { JsonObject, JsonValue } from "@cem/core";
import type { FetchLike } from "@modelcontextprotocol/client";
import type { HttpSettings } from "../settings/server-settings.ts";
import { createBrake, weightOf } from "./brake.ts";
import { AnswerRoom, LARGE_BYTES } from "./large-answers.ts";

/** Limit of one response, or of one line of an event stream. */
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
/** Maximum number of concurrent answers to a server's requests: each is an HTTP request that takes a connection. */
const MAX_ANSWERS = 32;

interface ServerFetchSettings extends Pick<HttpSettings, "url" | "headers"> {
  /** Called with warnings about the server, such as that it sends too much. */
  onWarning?: ((message: string) => void) | undefined;
}

/**
 * Creates the `fetch` for a server's transport and its authorization. It sends the configured headers to the
 * server's own origin only, follows no redirect, limits the size of responses, and refuses URLs in a private network that a
 * public server names, for example as its authorization server. Throttles event streams of a server that sends too much, or
 * whose requests arrive faster than they are answered.
 *
 * The function throws CemError `ADDRESS_REFUSED` for a refused URL.
 */
export function createServerFetch(settings: ServerFetchSettings, maxBytes = MAX_RESPONSE_BYTES): FetchLike {
  const server = new URL(settings.url);
  const brake = createBrake(settings.onWarning);
  const answers = new Shares(MAX_ANSWERS);
  return async (input, init) => {
    const signal = init?.signal ?? new AbortController().signal;
    const inTurn = <T>(work: () => Promise<T>): Promise<T> => answers.run("", signal, work);
    const url = new URL(input);
    if (url.origin !== server.origin) await assertReachableFrom(server, url);
    const headers = new Headers(init?.headers);
    if (url.origin === server.origin) {
      for (const [name, value] of Object.entries(settings.headers ?? {})) {
        if (!headers.has(name)) headers.set(name, value);
      }
    }
    // `fetch` refuses a URL with credentials.
    if (url.username !== "" || url.password !== "") {
      const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
      if (!headers.has("authorization")) {
        headers.set("authorization", `Basic ${Buffer.from(credentials).toString("base64")}`);
      }
      url.username = "";
      url.password = "";
    }
    // `fetch` would send the configured headers to the target of a redirect.
    const redirect = init?.redirect ?? (url.origin === server.origin ? "manual" : "error");
    const send = (): Promise<Response> => fetchWithRetry(url, { ...init, headers, redirect });
    const message = messageIn(init?.body);
    const isAnswer = message !== undefined && !("method" in message);
    const response = await (isAnswer ? inTurn(send) : send());
    const slowDown = async (messages: number): Promise<void> => {
      const pauseMs = brake(messages);
      if (pauseMs > 0) await sleep(pauseMs, undefined, { ref: false, signal });
      if (answers.countOf("") > MAX_ANSWERS) await inTurn(async () => {});
    };
    const call = message?.["method"] === "tools/call" ? message["id"] : undefined;
    return limitSize(response, maxBytes, call, slowDown);
  };
}

/** Retries a GET request once if the server closed the idle connection it was sent on. */
async function fetchWithRetry(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
    const isStale = cause?.code === "ECONNRESET" || cause?.code === "UND_ERR_SOCKET";
    if (!isStale || (init.method ?? "GET") !== "GET" || init.signal?.aborted === true) throw error;
    return fetch(url, init);
  }
}

function messageIn(body: unknown): JsonObject | undefined {
  const message = typeof body === "string" ? (parseJson(body) as JsonValue | undefined) : undefined;
  return isObject(message) ? message : undefined;
}

/**
 * Limits the size of the response, and replaces a large answer to a call by its stand-in.
 *
 * @param slowDown - Waits after messages of an event stream while the server is throttled.
 */
function limitSize(
  response: Response,
  maxBytes: number,
  call: JsonValue | undefined,
  slowDown: (messages: number) => Promise<void>,
): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
  const tooLarge = (): RangeError => new RangeError(`The server sent more than ${maxBytes} bytes.`);
  const room = new AnswerRoom();
  let bytes = 0;
  let ended = 0;
  const limited = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      const newline = isStream ? chunk.lastIndexOf(NEWLINE) : -1;
      // Bytes count only once more lines follow, since a call's last lines are its answer.
      const weight = weightOf(ended);
      if (newline !== -1) [ended, bytes] = [bytes + newline, -newline - 1];
      bytes += chunk.length;
      if (bytes > maxBytes || (call !== undefined && !room.holds(bytes))) throw tooLarge();
      controller.enqueue(chunk);
      const lines = newline === -1 ? 0 : chunk.filter((byte) => byte === NEWLINE).length;
      if (lines > 0) await slowDown(lines / LINES_A_MESSAGE + weight);
    },
  });
  const body = response.body.pipeThrough(limited);
  const { status, headers } = response;
  const wait = headers.get("retry-after");
  // The SDK exposes the status text but no headers.
  const statusText = response.statusText + (wait === null ? "" : ` (Retry-After: ${wait})`);
  const isCall = call !== undefined && response.ok;
  const shown = isCall && isStream ? body.pipeThrough(smallEvents(call, room)) : body;
  const copy = new Response(shown, { status, statusText, headers });
  const json = async (): Promise<unknown> => {
    const all = Buffer.from(await copy.arrayBuffer());
    return all.length > LARGE_BYTES ? room.standIn(call ?? null, all) : JSON.parse(decoder.decode(all));
  };
  Object.defineProperty(copy, "url", { value: response.url });
  if (isCall && !isStream) Object.defineProperty(copy, "json", { value: json });
  return copy;
}

/** Unlike a buffer's, it skips a byte order mark. */
const decoder = new TextDecoder();
const NEWLINE = 0x0a;
/** The lines of an event: name, data and the empty line. */
const LINES_A_MESSAGE = 3;
const DATA = "data:";

/** Replaces the event of a large answer by its stand-in. */
function smallEvents(call: JsonValue, room: AnswerRoom): TransformStream<Uint8Array, Uint8Array> {
  let out = "";
  const take = (line: Buffer): void => {
    if (line.toString("utf8", 0, DATA.length) !== DATA) throw new RangeError("The server sent a long line.");
    out += `${DATA}${JSON.stringify(room.standIn(call, Buffer.from(line.subarray(DATA.length))))}\n`;
  };
  const split = createLineSplitter(Infinity, undefined, { bytes: LARGE_BYTES, take });
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      for (const line of split(Buffer.from(chunk))) out += `${line}\n`;
      if (out !== "") controller.enqueue(Buffer.from(out));
      out = "";
    },
  });
}

const privateAddresses = new BlockList();
const INTERNAL_IPV6 = ["::/127", "64:ff9b::/96", "fc00::/7", "fe80::/10", "ff00::/8"];
for (const [network = "", prefix] of [...INTERNAL_IPV4, ...INTERNAL_IPV6].map((each) => each.split("/")))
  privateAddresses.addSubnet(network, Number(prefix), familyOf(network));

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}

async function assertReachableFrom(server: URL, target: URL): Promise<void> {
  if (target.protocol !== "https:" && target.protocol !== "http:")
    throw refused(target, "is not an HTTP address");
  const targetAddresses = await addressesOf(target);
  if (!targetAddresses.some(isPrivate)) return;
  const serverAddresses = await addressesOf(server);
  if (serverAddresses.length > 0 && serverAddresses.every(isPrivate)) return;
  throw refused(target, "is in a private network and was named by a public server");
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
  return privateAddresses.check(address, familyOf(address));
}

function refused(target: URL, why: string): CemError {
  return new CemError("ADDRESS_REFUSED", `${target.origin} ${why}.`, { details: { origin: target.origin } });
}

/** Whether a value is an `http:` or `https:` URL. Any other URL, such as `file:` or `javascript:`, must not be opened. */
export function isWebUrl(url: unknown): url is string {
  return typeof url === "string" && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
