const MAX_HEADER_BYTES = 12;
const MAX_PIECE_BYTES = 8_192;
const SEMICOLON = 59;

export interface FrameReaderSettings {
  /** The secret that frames of this guest carry. */
  token: string;
  onFrame(frame: Buffer): void;
  /** Bytes that are not part of a frame: what the program printed. */
  onText(bytes: Buffer): void;
  /** A frame that breaks the rules. Nothing is read after it. */
  onViolation(message: string, kind: "protocol" | "size"): void;
}

/**
 * Tells a guest's frames from the text around them. A frame comes in pieces `\0cem:<token>:<length>,<last>;<bytes>`;
 * everything else is output. Holds back at most one piece.
 */
export class FrameReader {
  readonly #settings: FrameReaderSettings;
  readonly #mark: Buffer;
  #rest: Buffer = Buffer.alloc(0);
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #broken = false;
  /** The longest frame, all pieces together, in bytes. */
  maxFrameBytes = 64 * 1024;

  constructor(settings: FrameReaderSettings) {
    this.#settings = settings;
    this.#mark = Buffer.from(`\0cem:${settings.token}:`);
  }

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

  /** Hands out what was held back as text. */
  end(): void {
    if (!this.#broken && this.#rest.length > 0) this.#settings.onText(this.#rest);
    this.#rest = Buffer.alloc(0);
  }

  /** How many bytes at the end may be the beginning of a mark. */
  #heldBack(data: Buffer, from: number): number {
    const longest = Math.min(this.#mark.length - 1, data.length - from);
    for (let length = longest; length > 0; length -= 1) {
      if (data.subarray(data.length - length).equals(this.#mark.subarray(0, length))) return length;
    }
    return 0;
  }

  /** Takes one piece; the position after it, or `undefined` while it is incomplete. */
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
    if (header === null || length > MAX_PIECE_BYTES) {
      this.#violate("a frame with a wrong length", "protocol");
      return undefined;
    }
    const bodyStart = headerStart + headerEnd + 1;
    const bodyEnd = bodyStart + length;
    if (bodyEnd > data.length) return undefined;
    this.#takePiece(data.subarray(bodyStart, bodyEnd), header[2] === "1");
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
