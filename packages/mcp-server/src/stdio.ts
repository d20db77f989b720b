import type { Readable, Writable } from "node:stream";
import { serveStdio as serveConnection, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { Servable } from "./create-server.ts";
import { MAX_STDIO_MESSAGE_BYTES } from "./limits.ts";

export interface StdioOptions {
  /** Default: the process's own. */
  input?: Readable | undefined;
  output?: Writable | undefined;
  /** Hears of what went wrong on the way: never of what a tool answered. */
  onError?: ((error: Error) => void) | undefined;
}

/** A transport that serves, until it is closed or its client goes away. */
export interface Serving {
  /** Resolves once nothing is served any more. */
  readonly closed: Promise<void>;
  /** Ends it; calls under way have `graceMs` to finish. Safe to call twice. */
  close(graceMs?: number): Promise<void>;
}

/** Serves one client over stdin and stdout. When the client goes away, everything it started is ended. */
export function serveStdio(server: Servable, options: StdioOptions = {}): Serving {
  const { input = process.stdin, output = process.stdout, onError = () => {} } = options;
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MAX_STDIO_MESSAGE_BYTES });
  const connection = serveConnection(server.factory, { transport, onerror: onError });
  const gone = Promise.withResolvers<void>();
  let closing: Promise<void> | undefined;
  const close = (graceMs?: number): Promise<void> => {
    closing ??= server
      .close(graceMs)
      .then(() => connection.close())
      .finally(() => gone.resolve());
    return closing;
  };
  // The connection owns the transport's own `onclose`; these are what it closes for.
  for (const event of ["end", "close", "error"]) input.once(event, () => void close());
  output.once("error", () => void close());
  return { closed: gone.promise, close };
}
