import { timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { CemError } from "@cem/core";
import { abandonOnAbort } from "@cem/bridge";

const HOST = "127.0.0.1";
const PATH = "/callback";

/** What the authorization server sent the browser back with. */
export interface CallbackParameters {
  code: string;
  iss?: string | undefined;
}

/** The address the browser comes back to. */
export interface CallbackListener {
  readonly port: number;
  readonly url: string;
  /** @throws CemError `AUTH_FAILED` when the authorization server reports an error. */
  wait(signal: AbortSignal): Promise<CallbackParameters>;
  close(): Promise<void>;
}

/** Listens on 127.0.0.1. Only a request that carries `state` counts; others are answered and passed over. */
export async function listenForCallback(port: number, state: string): Promise<CallbackListener> {
  const outcome = Promise.withResolvers<CallbackParameters>();
  outcome.promise.catch(() => {});
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
    if (request.method !== "GET" || url.pathname !== PATH) return reply(404, "There is nothing here.");
    if (!isSame(url.searchParams.get("state") ?? "", state)) {
      return reply(400, "This answer does not belong to the sign-in under way. Nothing was done.");
    }
    const error = url.searchParams.get("error");
    const code = url.searchParams.get("code");
    if (error !== null || code === null) {
      const reason = [error ?? "no code was given", url.searchParams.get("error_description")]
        .filter((text) => text !== null)
        .join(": ");
      outcome.reject(new CemError("AUTH_FAILED", `The sign-in was refused: ${reason.slice(0, 500)}.`));
      return reply(200, "The sign-in was refused. You can close this window.");
    }
    const iss = url.searchParams.get("iss");
    outcome.resolve({ code, ...(iss === null ? {} : { iss }) });
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
    wait: (signal) => abandonOnAbort(outcome.promise, signal),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isSame(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
