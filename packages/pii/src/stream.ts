import type { RedactionStream } from "@cem/core";
import { withoutOverlaps, type TextDetector } from "./detect.ts";
import type { Heading } from "./columns.ts";
import { MAX_CHARACTERS_AT_ONCE, type Turns } from "./json-walk.ts";
import type { ValueFinding } from "./vault.ts";

/** Maximum number of characters held back without a line end. */
const MAX_HELD_CHARACTERS = 8_192;
/** Maximum length of a value, except for multi-line keys. */
const MAX_VALUE_CHARACTERS = 512;
/** Number of characters of context kept before a value. */
const CONTEXT_CHARACTERS = 64;
/** The end of a base64 or quoted-printable line, after which a value may continue on the next line. */
const GOES_ON = /(?:[\w+/-]{60,76}|=)\r?\n$/;
const MAX_LINE_CHARACTERS = 80;
const KEY_BEGINS = "-----BEGIN ";
const KEY_ENDS = /-----END [A-Z\d ]{1,60}-----/;

/** The part of a session that a stream needs. */
interface StreamSession {
  findIn(text: string): ValueFinding[];
  /** The start of a known value whose rest may follow. */
  beginningIn?(text: string): number | undefined;
  findColumns: TextDetector["findColumns"];
  replace(text: string, found: readonly ValueFinding[]): string;
}

/**
 * Replaces values in a text that arrives in pieces. Complete lines are emitted immediately. Of an incomplete line, the part
 * that may contain the beginning of a value is held back.
 */
export function createRedactionStream(session: StreamSession): RedactionStream {
  let held = "";
  let context = "";
  let heading: Heading | undefined;
  /** Whether a private key has begun, whose rest is dropped. */
  let isInKey = false;

  const emit = (length: number): string => {
    const text = context + held;
    const from = context.length;
    const cells = heading === undefined ? [] : session.findColumns(held, heading).found;
    const found = withoutOverlaps([
      ...session.findIn(text).filter(({ end }) => end > from),
      ...cells.map((cell) => ({ ...cell, start: cell.start + from, end: cell.end + from })),
    ]) as ValueFinding[];
    // A value that extends beyond the end is held back, unless it is longer than the limit.
    const crossing = found.find(({ start, end }) => start < from + length && end > from + length);
    const until =
      crossing !== undefined && crossing.start > from
        ? crossing.start
        : Math.max(from + length, crossing?.end ?? 0);
    const shown = found
      .filter(({ end }) => end <= until)
      .map((one) => ({ ...one, start: Math.max(from, one.start) - from, end: one.end - from }));
    const result = session.replace(held.slice(0, until - from), shown);
    context = text.slice(Math.max(0, until - CONTEXT_CHARACTERS), until);
    ({ heading } = session.findColumns(held.slice(0, until - from), heading));
    held = text.slice(until);
    return result;
  };

  /** The length of the lines before a value that may continue on the next ones. */
  const withoutBeginning = (length: number): number => {
    if (held.length > MAX_HELD_CHARACTERS) return length;
    const text = context + held.slice(0, length);
    const from = Math.max(0, text.length - MAX_VALUE_CHARACTERS);
    const start = session.beginningIn?.(text.slice(from));
    return start === undefined ? length : Math.max(0, from + start - context.length);
  };

  return {
    push(piece) {
      held += piece;
      if (isInKey) {
        const end = KEY_ENDS.exec(held);
        if (end === null) {
          held = held.slice(-CONTEXT_CHARACTERS);
          return "";
        }
        held = held.slice(end.index + end[0].length);
        isInKey = false;
      }
      const length = withoutBeginning(safeLength(held));
      if (length === 0) return "";
      const opened = held.lastIndexOf(KEY_BEGINS);
      if (opened === -1 || KEY_ENDS.test(held.slice(opened))) return emit(length);
      if (held.length - opened <= MAX_HELD_CHARACTERS) return opened === 0 ? "" : emit(opened);
      isInKey = true;
      return emit(held.length);
    },
    end() {
      if (isInKey) return "";
      return held === "" ? "" : emit(held.length);
    },
  };
}

/** The length of the text before a possibly truncated value at its end. */
function safeLength(text: string): number {
  const end = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
  const goesOn = GOES_ON.test(text.slice(Math.max(0, end - MAX_LINE_CHARACTERS), end));
  const line = goesOn ? text.lastIndexOf("\n", text.length - MAX_VALUE_CHARACTERS) + 1 : end;
  const rest = text.length - line;
  if (rest <= MAX_VALUE_CHARACTERS) return line;
  const space = text.lastIndexOf(" ", text.length - MAX_VALUE_CHARACTERS);
  if (space >= line) return space + 1;
  // An unfinished word that is longer than any value.
  return rest > MAX_HELD_CHARACTERS ? text.length - MAX_VALUE_CHARACTERS : line;
}

/** Processes a long text in pieces that don't split values, yielding to the event loop in between. */
export async function streamInTurns(
  text: string,
  session: StreamSession,
  turns: Turns,
  onEnd: () => void = () => {},
): Promise<string> {
  const stream = createRedactionStream(session);
  const pieces: string[] = [];
  for (let from = 0; from < text.length; from += MAX_CHARACTERS_AT_ONCE) {
    pieces.push(stream.push(text.slice(from, from + MAX_CHARACTERS_AT_ONCE)));
    const pause = turns.next();
    if (pause !== undefined) await pause;
  }
  onEnd();
  return [...pieces, stream.end()].join("");
}
