import { request } from "undici";

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
 * Sends one HTTP request over a connection of its own, without retries. The client's own timeouts are off, so that it
 * waits until the signal aborts: the server answers only when a command has ended.
 */
export async function sendRequest(url: string, options: HttpRequest): Promise<HttpResponse> {
  const { statusCode, body } = await request(url, {
    ...options,
    body: options.body ?? null,
    reset: true,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return { status: statusCode, text: await body.text() };
}
