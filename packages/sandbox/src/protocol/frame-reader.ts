const MAX_HEADER_BYTES = 12;
const MAX_PIECE_BYTES = 8_192;
/** Each piece that is kept costs the host far more than its bytes. The runner sends larger ones, up to the last of a message. */
const MIN_PIECE_BYTES = 1_024;
const SEMICOLON = 59;

export interface FrameReaderSettings {
  /** The secret that marks this guest's frames. */
  token: string;
  /** A complete message. The buffer may be reused: copy what is kept. */
  onFrame(frame: Buffer): void;
  /** Bytes outside any frame: what the program printed to stdout. */
  onText(bytes: Buffer): void;
  /** A malformed or oversized frame. Nothing is read after it. */
  onViolation(message: string, kind: "protocol" | "size"): void;
}

/**
 * Separates a guest's messages from the text it prints. A message is sent in pieces
 * `\0cem:<token>:<length>,<last>;<bytes>`; everything else is output. Buffers at most one incomplete piece and the
 * pieces of one message.
 */
export class FrameReader {
  readonly #settings: FrameReaderSettings;
  readonly #mark: Buffer;
  #rest: Buffer = Buffer.alloc(0);
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #broken = false;
  /** The longest message accepted, all pieces together, in bytes. */
  maxFrameBytes = 64 * 1024;

  constructor(settings: FrameReaderSettings) {
    this.#settings = settings;
    this.#mark = Buffer.from(`\0cem:${settings.token}:`);
  }

  /** Parses the next chunk of the guest's stdout. */
  push(chunk: Buffer): void {
    if (this.#broken) return;
    const data = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    let position = 0;
    while (!this.#broken) {
      const start = data.indexOf(this.#mark, position);
      const textEnd = start === -1 ? data.length - this.#heldBack(data, position) : start;
      if (textEnd > position) this.#settings.onText(data.subarray(position, textEnd));
      position = textEnd;
      if (start === -1) break;
      const next = this.#readPiece(data, start);
      if (next === undefined) break;
      position = next;
    }
    this.#rest = Buffer.from(data.subarray(position));
  }

  /** Ends the input: emits what is still buffered as text. */
  end(): void {
    if (!this.#broken && this.#rest.length > 0) this.#settings.onText(this.#rest);
    this.#rest = Buffer.alloc(0);
  }

  /** Number of bytes at the end that may be the beginning of a mark. */
  #heldBack(data: Buffer, from: number): number {
    const longest = Math.min(this.#mark.length - 1, data.length - from);
    for (let length = longest; length > 0; length -= 1) {
      if (data.subarray(data.length - length).equals(this.#mark.subarray(0, length))) return length;
    }
    return 0;
  }

  /** Reads one piece. Returns the position after it; `undefined` while it is incomplete or when it is malformed. */
  #readPiece(data: Buffer, start: number): number | undefined {
    const headerStart = start + this.#mark.length;
    const headerEnd = data.subarray(headerStart, headerStart + MAX_HEADER_BYTES).indexOf(SEMICOLON);
    if (headerEnd === -1) {
      if (data.length - headerStart >= MAX_HEADER_BYTES)
        this.#violate("a frame without a length", "protocol");
      return undefined;
    }
    const header = /^(\d{1,5}),([01])$/.exec(data.toString("latin1", headerStart, headerStart + headerEnd));
    const length = Number(header?.[1] ?? Number.NaN);
    const isLast = header?.[2] === "1";
    if (header === null || length > MAX_PIECE_BYTES || length < (isLast ? 1 : MIN_PIECE_BYTES)) {
      this.#violate("a frame with a wrong length", "protocol");
      return undefined;
    }
    const bodyStart = headerStart + headerEnd + 1;
    const bodyEnd = bodyStart + length;
    if (bodyEnd > data.length) return undefined;
    this.#takePiece(data.subarray(bodyStart, bodyEnd), isLast);
    return bodyEnd;
  }

  #takePiece(piece: Buffer, last: boolean): void {
    this.#pieceBytes += piece.length;
    if (this.#pieceBytes > this.maxFrameBytes) {
      this.#pieces = [];
      this.#violate(`a message of more than ${this.maxFrameBytes} bytes`, "size");
      return;
    }
    if (last && this.#pieces.length === 0) {
      this.#pieceBytes = 0;
      this.#settings.onFrame(piece);
      return;
    }
    this.#pieces.push(Buffer.from(piece));
    if (!last) return;
    const frame = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#pieceBytes = 0;
    this.#settings.onFrame(frame);
  }

  #violate(message: string, kind: "protocol" | "size"): void {
    this.#broken = true;
    this.#settings.onViolation(message, kind);
  }
}
