import { hash, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { abandonOnAbort, CemError } from "@cem/core";

const HOST = "127.0.0.1";
const PATH = "/callback";

/** A local HTTP server for the redirect at the end of an authorization. */
export type CallbackListener = Awaited<ReturnType<typeof listenForCallback>>;

/**
 * Listens for the redirect on 127.0.0.1. A request without the right `state` is refused and ignored.
 *
 * @param port - 0 for any free port.
 */
export async function listenForCallback(port: number, state: string) {
  const outcome = Promise.withResolvers<{ code: string; iss?: string | undefined }>();
  outcome.promise.catch(() => {});
  const expected = hash("sha256", state, "buffer");
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", `http://${HOST}`);
    const reply = (status: number, text: string): void => {
      response.writeHead(status, {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": "default-src 'none'",
        "cache-control": "no-store",
        connection: "close",
      });
      response.end(`<!doctype html><title>Sign-in</title><p>${text}</p>`);
    };
    if (request.method !== "GET" || url.pathname !== PATH) return reply(404, "Not found.");
    const given = hash("sha256", url.searchParams.get("state") ?? "", "buffer");
    if (!timingSafeEqual(given, expected)) {
      return reply(400, "This response does not belong to the current sign-in. It was ignored.");
    }
    const error = url.searchParams.get("error");
    const code = url.searchParams.get("code");
    if (error !== null || code === null) {
      const reason = [error ?? "no code was given", url.searchParams.get("error_description")]
        .filter((text) => text !== null)
        .join(": ");
      const message = `The sign-in was refused: ${reason.slice(0, 500)}.`;
      outcome.reject(new CemError("AUTH_FAILED", message, { details: { error: error ?? undefined } }));
      return reply(200, "The sign-in was refused. You can close this window.");
    }
    outcome.resolve({ code, iss: url.searchParams.get("iss") ?? undefined });
    return reply(200, "You are signed in. You can close this window.");
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, HOST, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    url: `http://${HOST}:${address.port}${PATH}`,
    /** Waits for the authorization response. @throws CemError `AUTH_FAILED` when it reports an error. */
    wait: (signal: AbortSignal) => abandonOnAbort(outcome.promise, signal),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
