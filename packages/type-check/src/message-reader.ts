const HEADER_END = "\r\n\r\n";
const LENGTH = /^Content-Length: (?<bytes>\d+)$/imu;

/** Splits a stream into messages, framed as in the Language Server Protocol: a header with the length, then the text. */
export class MessageReader {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #size = 0;
  /** The length of the message whose header was read. */
  #expected: number | undefined;

  /** @param maxBytes - The longest message that is taken. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Adds what was received.
   *
   * @returns the messages that it completes.
   * @throws RangeError for a message that is longer than allowed or has no length.
   */
  read(chunk: Buffer): string[] {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const messages: string[] = [];
    for (;;) {
      this.#expected ??= this.#readHeader();
      if (this.#expected === undefined || this.#size < this.#expected) return messages;
      messages.push(this.#take(this.#expected).toString("utf8"));
      this.#expected = undefined;
    }
  }

  #readHeader(): number | undefined {
    const end = this.#joined().indexOf(HEADER_END);
    if (end === -1) return undefined;
    const header = this.#take(end + HEADER_END.length).toString("latin1");
    const length = Number(LENGTH.exec(header)?.groups?.["bytes"] ?? NaN);
    if (length <= this.#maxBytes) return length;
    throw new RangeError(`A message of ${length} bytes; at most ${this.#maxBytes} are read.`);
  }

  #take(bytes: number): Buffer {
    const all = this.#joined();
    this.#chunks = [all.subarray(bytes)];
    this.#size -= bytes;
    return all.subarray(0, bytes);
  }

  /** What was received and not yet taken. A long message is joined once, when it is complete. */
  #joined(): Buffer {
    const [only, ...others] = this.#chunks;
    if (only !== undefined && others.length === 0) return only;
    const joined = Buffer.concat(this.#chunks, this.#size);
    this.#chunks = [joined];
    return joined;
  }
}
