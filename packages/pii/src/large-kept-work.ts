import { isJson, partsOfJson, pastCharacter } from "@cem/core";
import { decodeText, encodingOf } from "./embedded-data.ts";

/** Approximate size of a piece. */
const PIECE_BYTES = 256 * 1024;
/** Pieces of a text overlap by this many bytes, so that no value is lost at the boundary. */
const OVERLAP_BYTES = 256;
const CHECKED_BYTES = 1024 * 1024;
const MAX_SPACE = 32;
const QUOTE = 0x22;
const LINE_END = [0x0a];
/** A line end in a JSON string. */
const ESCAPED_LINE_END = [0x5c, 0x6e];
const MAX_HEADING_BYTES = 4 * 1024;
/** Within a longer line, a piece may begin anywhere. */
const MAX_LINE_BYTES = 64 * 1024;

/** A small part of a file: JSON with its enclosing brackets, or a text. */
export interface Piece {
  start: number;
  end: number;
  open: string;
  close: string;
}

/** A file in pieces. */
export interface Pieces {
  /** The file in UTF-8 if it has another encoding. */
  bytes?: Uint8Array;
  isJson: boolean;
  pieces: Piece[];
}

/** Finds the pieces of a file, on the calling thread. Binary files have none. */
export function piecesOf(given: Uint8Array): Pieces {
  if (encodingOf(given) === "utf-8" && isUtf8(given)) return cut(given);
  const bytes = new TextEncoder().encode(decodeText(given)?.text ?? "");
  return { bytes, ...cut(bytes) };
}

function isUtf8(bytes: Uint8Array): boolean {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    for (let at = 0; at < bytes.length; at += CHECKED_BYTES)
      decoder.decode(bytes.subarray(at, at + CHECKED_BYTES), { stream: true });
    decoder.decode();
    return true;
  } catch {
    return false;
  }
}

function cut(bytes: Uint8Array): Pieces {
  const whole: Piece = { start: 0, end: bytes.length, open: "", close: "" };
  // A JSON string is processed as raw text.
  const isStructure = bytes.find((byte) => byte > MAX_SPACE) !== QUOTE && isJson(bytes);
  if (isStructure) return { isJson: true, pieces: [...piecesOfJson(bytes, whole)] };
  return { isJson: false, pieces: [...piecesOfText(bytes, whole)] };
}

/** Each piece begins at a line and is preceded by the first line of the text, which may contain column names. */
function* piecesOfText(bytes: Uint8Array, { start, end, open, close }: Piece): Generator<Piece> {
  const lineEnd = open.endsWith('"') ? ESCAPED_LINE_END : LINE_END;
  const isLineEnd = (at: number): boolean => lineEnd.every((byte, index) => bytes[at + index] === byte);
  let body = start;
  while (body < Math.min(end, start + MAX_HEADING_BYTES) && !isLineEnd(body)) body += 1;
  const heading = isLineEnd(body)
    ? new TextDecoder().decode(bytes.subarray(start, body + lineEnd.length))
    : "";
  const lineStart = (from: number, to: number): number => {
    for (let at = to - lineEnd.length; at > Math.max(from, to - MAX_LINE_BYTES); at -= 1)
      if (isLineEnd(at)) return at + lineEnd.length;
    return to;
  };
  for (let from = start; from < end;) {
    let [at, next] = [from, end];
    while (at < end && at - from < PIECE_BYTES) {
      if (next === end && at - from >= PIECE_BYTES - OVERLAP_BYTES) next = at;
      at = pastCharacter(bytes, at);
    }
    yield { start: from, end: at, open: from === start ? open : open + heading, close };
    from = at < end ? lineStart(from, next) : end;
  }
}

function* piecesOfJson(bytes: Uint8Array, { start, end, open, close }: Piece): Generator<Piece> {
  const text = { start: start + 1, end: end - 1, open: `${open}"`, close: `"${close}` };
  if (bytes[start] === QUOTE) return yield* piecesOfText(bytes, text);
  let group: Piece | undefined;
  for (const part of partsOfJson(bytes, start)) {
    const [before, after] = part.name === undefined ? [`${open}[`, `]${close}`] : [`${open}{`, `}${close}`];
    if (part.end - part.start > PIECE_BYTES) {
      if (group !== undefined) yield group;
      group = undefined;
      const name = part.name === undefined ? "" : `${JSON.stringify(part.name)}:`;
      yield* piecesOfJson(bytes, { ...part, open: before + name, close: after });
      continue;
    }
    group = { start: part.from, open: before, close: after, ...group, end: part.end };
    if (group.end - group.start <= PIECE_BYTES) continue;
    yield group;
    group = undefined;
  }
  if (group !== undefined) yield group;
}
