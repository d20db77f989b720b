import { isObject } from "@cem/core";
import type { JsonValue } from "@cem/core";
import { decodeText, membersOf } from "./readings.ts";

/** Characters of a piece, about. */
const PIECE_CHARACTERS = 256 * 1024;
/** Of a text that is cut, the next piece begins so many characters before the end of the last: no value is lost there. */
const OVERLAP_CHARACTERS = 256;

/** The JSON of small parts of a value, each within the members that lead to it. */
export interface Pieces {
  pieces: Uint8Array<ArrayBuffer>[];
  transfer: ArrayBuffer[];
}

/** Reads a file and cuts its data, on the thread that it is called on. Bytes that are no text have no pieces. */
export function piecesOf(bytes: Uint8Array): Pieces {
  const text = decodeText(bytes)?.text;
  const found = text === undefined ? [] : cut(membersOf(text).data as JsonValue);
  const pieces = Array.from(found, (piece) => new Uint8Array(new TextEncoder().encode(piece)));
  return { pieces, transfer: pieces.map(({ buffer }) => buffer) };
}

function* cut(value: JsonValue): Generator<string> {
  if (typeof value === "string") {
    for (let at = 0; at < value.length; at += PIECE_CHARACTERS - OVERLAP_CHARACTERS)
      yield JSON.stringify(value.slice(at, at + PIECE_CHARACTERS));
    return;
  }
  const isList = Array.isArray(value);
  if (!isList && !isObject(value)) return yield JSON.stringify(value);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  let group = "";
  for (const [name, member] of Object.entries(value)) {
    const key = isList ? "" : `${JSON.stringify(name)}:`;
    const text = JSON.stringify(member);
    if (text.length > PIECE_CHARACTERS) for (const piece of cut(member)) yield open + key + piece + close;
    else group += (group === "" ? "" : ",") + key + text;
    if (group.length > PIECE_CHARACTERS) {
      yield open + group + close;
      group = "";
    }
  }
  if (group !== "") yield open + group + close;
}
