import type { Readable, Writable } from "node:stream";

/** Hostile code can make an answer arbitrarily long, and parsing it blocks the host. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Answers the requests of the other side. */
export type RequestHandler = (method: string, params: unknown) => unknown;

interface Message {
  id?: number | undefined;
  method?: string | undefined;
  params?: unknown;
  result?: unknown;
  error?: { message: string } | undefined;
}

/**
 * A JSON-RPC 2.0 connection to a process over its pipes. Both sides may send requests.
 *
 * @param onFailure - Called when received data can't be parsed.
 */
export function connectJsonRpc(
  { stdin, stdout }: { stdin: Writable; stdout: Readable },
  handle: RequestHandler,
  onFailure: (error: Error) => void,
) {
  const read = createMessageReader(MAX_MESSAGE_BYTES);
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let closed: Error | undefined;
  let nextId = 1;

  const send = (message: Message): void => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  };
  const settle = ({ id = 0, result, error }: Message): void => {
    const asked = pending.get(id);
    pending.delete(id);
    if (error === undefined) asked?.resolve(result);
    else asked?.reject(new Error(error.message));
  };
  const receive = (chunk: Buffer): void => {
    // Batches many small answers into one write.
    stdin.cork();
    for (const text of read(chunk)) {
      const message = JSON.parse(text) as Message;
      const { id, method, params } = message;
      if (method === undefined) settle(message);
      else if (id !== undefined) send({ id, result: handle(method, params) ?? null });
    }
    stdin.uncork();
  };

  // The process has ended, which its exit event reports.
  stdin.on("error", () => {});
  stdout.on("data", (chunk: Buffer) => {
    try {
      receive(chunk);
    } catch (error) {
      onFailure(error as Error);
    }
  });
  return {
    /** @returns the other side's answer. @throws its error, or the error with which the connection was closed. */
    request(method: string, params: unknown): Promise<unknown> {
      if (closed !== undefined) return Promise.reject(closed);
      const id = nextId;
      nextId += 1;
      const answer = Promise.withResolvers<unknown>();
      pending.set(id, answer);
      // Batches requests of the same tick into one write.
      stdin.cork();
      process.nextTick(() => stdin.uncork());
      send({ id, method, params });
      return answer.promise;
    },
    /** Rejects all pending and future requests with an error. */
    close(error: Error): void {
      closed ??= error;
      for (const { reject } of pending.values()) reject(closed);
      pending.clear();
    },
  };
}

const HEADER_END = "\r\n\r\n";
const LENGTH = /^Content-Length: (?<bytes>\d+)$/imu;

/**
 * Creates a function that splits a stream into messages, framed as in the Language Server Protocol: a header with the
 * length, then the text. It returns the messages that the received data completes.
 *
 * The function throws RangeError for a message that is longer than allowed or has no length.
 */
export function createMessageReader(maxBytes: number): (chunk: Buffer) => string[] {
  let chunks: Buffer[] = [];
  let size = 0;
  /** The length of the message whose header was read. */
  let expected: number | undefined;

  /** The bytes received but not consumed yet. A long message is joined once, when it is complete. */
  const joined = (): Buffer => {
    const [only, ...others] = chunks;
    if (only !== undefined && others.length === 0) return only;
    const all = Buffer.concat(chunks, size);
    chunks = [all];
    return all;
  };
  const take = (bytes: number): Buffer => {
    const all = joined();
    chunks = [all.subarray(bytes)];
    size -= bytes;
    return all.subarray(0, bytes);
  };
  const readHeader = (): number | undefined => {
    const end = joined().indexOf(HEADER_END);
    if (end === -1) return undefined;
    const header = take(end + HEADER_END.length).toString("latin1");
    const length = Number(LENGTH.exec(header)?.groups?.["bytes"] ?? NaN);
    if (length <= maxBytes) return length;
    throw new RangeError(`A message of ${length} bytes; at most ${maxBytes} are read.`);
  };

  return (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    const messages: string[] = [];
    for (;;) {
      expected ??= readHeader();
      if (expected === undefined || size < expected) return messages;
      messages.push(take(expected).toString("utf8"));
      expected = undefined;
    }
  };
}
