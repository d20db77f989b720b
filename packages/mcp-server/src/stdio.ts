import { Duplex, type Readable, type Writable } from "node:stream";
import { createLineSplitter, isObject, messageIdIn, parseJson, type JsonValue } from "@cem/core";
import { isJSONRPCRequest } from "@modelcontextprotocol/server";
import { serveStdio as serveConnection, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { Servable } from "./agent-server.ts";
import { MAX_BATCH_MESSAGES, MAX_STDIO_MESSAGE_BYTES } from "./limits.ts";

export interface StdioOptions {
  /** Default: the process's standard input. */
  input?: Readable | undefined;
  /** Default: the process's standard output. */
  output?: Writable | undefined;
  /** Called with errors of the transport and the protocol, but not with errors of tools. */
  onError?: ((error: Error) => void) | undefined;
}

/** A transport that serves until it is closed or its client disconnects. */
export interface Serving {
  /** Resolves when the transport is closed. */
  readonly closed: Promise<void>;
  /** Closes the transport; calls in progress have `graceMs` milliseconds to finish (default: 0). Safe to call twice. */
  close(graceMs?: number): Promise<void>;
}

/** Serves one client over stdin and stdout. When the client disconnects, its runs are cancelled. */
export function serveStdio(server: Servable, options: StdioOptions = {}): Serving {
  const { input = process.stdin, output = process.stdout, onError = () => {} } = options;
  const messages = input.pipe(createMessageCheck((answer) => output.write(`${JSON.stringify(answer)}\n`)));
  const transport = new StdioServerTransport(messages, output, { maxBufferSize: Infinity });
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
  // The transport also closes itself when its input fails.
  const closeTransport = transport.close.bind(transport);
  transport.close = () => {
    // Lets the process exit.
    input.unpipe(messages).pause();
    return closeTransport().finally(() => void close());
  };
  for (const event of ["end", "close", "error"]) input.once(event, () => void close());
  output.once("error", () => void close());
  return { closed: gone.promise, close };
}

/** Forwards protocol messages, splitting batches, and answers invalid input, which the SDK would drop. */
function createMessageCheck(answer: (message: object) => void): Duplex {
  const refuse = (code: number, message: string, id: JsonValue = null): string => {
    answer({ jsonrpc: "2.0", id, error: { code, message } });
    return "";
  };
  const split = createLineSplitter(MAX_STDIO_MESSAGE_BYTES, (ends) => {
    const most = `${MAX_STDIO_MESSAGE_BYTES / 2 ** 20} MiB`;
    refuse(
      -32_600,
      `Invalid Request: a message has at most ${most}. Write large data to a file`,
      messageIdIn(ends),
    );
  });
  const check = (message: JsonValue, json = JSON.stringify(message)): string => {
    // Only requests are answered. The SDK drops other invalid messages.
    if (isObject(message) && (!("id" in message) || "result" in message || "error" in message))
      return `${json}\n`;
    if (isJSONRPCRequest(message)) return `${json}\n`;
    const id = isObject(message) ? message["id"] : null;
    const shown = typeof id === "string" || typeof id === "number" ? id : null;
    return refuse(-32_600, "Invalid Request: this is not a message of the protocol", shown);
  };
  const checkLine = (line: string): string => {
    if (line.trim() === "") return "";
    const read = parseJson(line) as JsonValue | undefined;
    if (read === undefined) return refuse(-32_700, "Parse error: Invalid JSON");
    if (!Array.isArray(read)) return check(read, line);
    if (read.length > 0 && read.length <= MAX_BATCH_MESSAGES) return read.map((one) => check(one)).join("");
    return refuse(-32_600, `Invalid Request: a batch has 1 to ${MAX_BATCH_MESSAGES} messages`);
  };
  return Duplex.from(async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) yield Buffer.from(split(chunk).map(checkLine).join(""));
  });
}
