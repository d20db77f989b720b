import type { Readable, Writable } from "node:stream";
import { serveStdio as serveConnection, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { Servable } from "./agent-server.ts";
import { MAX_STDIO_MESSAGE_BYTES } from "./limits.ts";

export interface StdioOptions {
  /** Default: the process's standard input. */
  input?: Readable | undefined;
  /** Default: the process's standard output. */
  output?: Writable | undefined;
  /** Called with errors of the transport and the protocol; never with those that a tool answers with. */
  onError?: ((error: Error) => void) | undefined;
}

/** A transport that serves until it is closed or its client disconnects. */
export interface Serving {
  /** Resolves when the transport is closed. */
  readonly closed: Promise<void>;
  /** Closes the transport; calls under way have `graceMs` milliseconds to finish (default: 0). Safe to call twice. */
  close(graceMs?: number): Promise<void>;
}

/** Serves one client over stdin and stdout. When the client disconnects, its runs are ended. */
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
  // It closes by itself after a message that is too large.
  const closeTransport = transport.close.bind(transport);
  transport.close = () => closeTransport().finally(() => void close());
  for (const event of ["end", "close", "error"]) input.once(event, () => void close());
  output.once("error", () => void close());
  return { closed: gone.promise, close };
}
