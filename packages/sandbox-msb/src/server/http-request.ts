import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { text } from "node:stream/consumers";

interface HttpRequest {
  method: "GET" | "POST";
  headers: Readonly<Record<string, string>>;
  body: string | undefined;
  signal: AbortSignal;
}

interface HttpResponse {
  status: number;
  text: string;
}

/**
 * Sends one HTTP request over a connection of its own, without retries. Unlike `fetch`, which gives up after five
 * minutes without headers, it waits until the signal aborts: the server answers only when a command has ended.
 */
export async function sendRequest(url: string, options: HttpRequest): Promise<HttpResponse> {
  const { method, headers, body, signal } = options;
  const send = url.startsWith("https:") ? httpsRequest : httpRequest;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    send(url, { method, headers, signal, agent: false }, resolve).once("error", reject).end(body);
  });
  return { status: response.statusCode ?? 0, text: await text(response) };
}
