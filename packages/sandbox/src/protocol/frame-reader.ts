const MAX_HEADER_BYTES = 12;
const MAX_PIECE_BYTES = 8_192;
/**
 * Each buffered piece costs the host far more than its bytes. The runner sends larger ones, except for the last of a
 * message.
 */
const MIN_PIECE_BYTES = 1_024;
const SEMICOLON = 59;

interface FrameReaderSettings {
  /** The secret that marks this guest's frames. */
  token: string;
  /** Receives a complete message. The buffer may be reused: copy what has to be kept. */
  onFrame: (frame: Buffer) => void;
  /** Receives bytes outside any frame: what the program printed to stdout. */
  onText: (bytes: Buffer) => void;
  /** Called for a malformed or oversized frame, after which nothing is read. */
  onViolation: (message: string, kind: "protocol" | "size") => void;
}

/**
 * Separates a guest's messages from the text it prints. A message is sent in pieces
 * `\0cem:<token>:<length>,<last>;<bytes>`; everything else is output. Buffers at most one incomplete piece and the
 * pieces of one message.
 */
export function createFrameReader({ token, onFrame, onText, onViolation }: FrameReaderSettings) {
  const mark = Buffer.from(`\0cem:${token}:`);
  let rest: Buffer = Buffer.alloc(0);
  let pieces: Buffer[] = [];
  let pieceBytes = 0;
  let isBroken = false;

  /** Number of bytes at the end that may begin a mark. */
  function heldBack(data: Buffer, from: number): number {
    const longest = Math.min(mark.length - 1, data.length - from);
    for (let length = longest; length > 0; length -= 1) {
      if (data.subarray(data.length - length).equals(mark.subarray(0, length))) return length;
    }
    return 0;
  }

  /** Reads one piece. Returns the position after it; `undefined` while it is incomplete or when it is malformed. */
  function readPiece(data: Buffer, start: number): number | undefined {
    const headerStart = start + mark.length;
    const headerEnd = data.subarray(headerStart, headerStart + MAX_HEADER_BYTES).indexOf(SEMICOLON);
    if (headerEnd === -1) {
      if (data.length - headerStart >= MAX_HEADER_BYTES) violate("a frame without a length", "protocol");
      return undefined;
    }
    const header = /^(\d{1,5}),([01])$/.exec(data.toString("latin1", headerStart, headerStart + headerEnd));
    const length = Number(header?.[1] ?? Number.NaN);
    const isLast = header?.[2] === "1";
    if (header === null || length > MAX_PIECE_BYTES || length < (isLast ? 1 : MIN_PIECE_BYTES)) {
      violate("a frame with a wrong length", "protocol");
      return undefined;
    }
    const bodyStart = headerStart + headerEnd + 1;
    const bodyEnd = bodyStart + length;
    if (bodyEnd > data.length) return undefined;
    takePiece(data.subarray(bodyStart, bodyEnd), isLast);
    return isBroken ? undefined : bodyEnd;
  }

  function takePiece(piece: Buffer, isLast: boolean): void {
    pieceBytes += piece.length;
    if (pieceBytes > reader.maxFrameBytes) {
      pieces = [];
      violate(`a message of more than ${reader.maxFrameBytes} bytes`, "size");
      return;
    }
    // A message of one piece is not copied.
    if (!isLast || pieces.length > 0) pieces.push(Buffer.from(piece));
    if (!isLast) return;
    const frame = pieces.length === 0 ? piece : Buffer.concat(pieces);
    pieces = [];
    pieceBytes = 0;
    onFrame(frame);
  }

  function violate(message: string, kind: "protocol" | "size"): void {
    isBroken = true;
    onViolation(message, kind);
  }

  const reader = {
    /** The longest message accepted, all pieces together, in bytes. */
    maxFrameBytes: 64 * 1024,
    push(chunk: Buffer): void {
      if (isBroken) return;
      const data = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      let position = 0;
      for (;;) {
        const start = data.indexOf(mark, position);
        const textEnd = start === -1 ? data.length - heldBack(data, position) : start;
        if (textEnd > position) onText(data.subarray(position, textEnd));
        position = textEnd;
        if (start === -1) break;
        const next = readPiece(data, start);
        if (next === undefined) break;
        position = next;
      }
      rest = Buffer.from(data.subarray(position));
    },
    /** Ends the input: emits what is still buffered as text. */
    end(): void {
      if (!isBroken && rest.length > 0) onText(rest);
      rest = Buffer.alloc(0);
    },
  };
  return reader;
}
