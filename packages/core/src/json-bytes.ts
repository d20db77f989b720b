/** A value within the bytes of JSON. */
export interface JsonPart {
  /** The name of a member. Absent for an item of a list. */
  name?: string;
  /** Where the name begins, or the value of an item. */
  from: number;
  /** Where the value begins. */
  start: number;
  /** The end of the value, exclusive. */
  end: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** From a bracket that opens to the one that closes. */
const TO_CLOSE = 2;
const LETTER_U = 0x75;
/** The characters that may follow a backslash, except `u`. */
const ESCAPED = new Set(new TextEncoder().encode('"\\/bfnrt'));
const LITERALS = ["true", "false", "null"].map((literal) => new TextEncoder().encode(literal));
/** Approximate number of bytes of a text that are decoded at once. */
const DECODED_BYTES = 1024 * 1024;

/** Limits of JSON. */
export interface JsonLimits {
  /** Items of lists and properties of objects. */
  values: number;
  levels: number;
  /** Bytes of the name of a property. */
  nameBytes: number;
}

const NO_LIMITS: JsonLimits = { values: Infinity, levels: Infinity, nameBytes: Infinity };

/**
 * Finds the end of a value in bytes of JSON without parsing it: parsed values take many times the size of the data.
 *
 * @param start - Where it begins, or white space before it.
 * @returns the end, exclusive.
 * @throws SyntaxError for invalid JSON; RangeError for data beyond a limit, with the exceeded limit as its message.
 */
export function endOfJson(bytes: Uint8Array, start = 0, limits: JsonLimits = NO_LIMITS): number {
  /** The expected closing brackets. A list and no recursion, since they may be nested deeper than the stack allows. */
  const closing: number[] = [];
  let values = 1;
  let at = start;
  const count = (): void => {
    values += 1;
    if (values > limits.values) throw new RangeError(`more than ${limits.values} values`);
  };
  const passName = (): void => {
    const from = pastSpace(bytes, at);
    at = pastName(bytes, from);
    if (at - from <= limits.nameBytes) return;
    const length = endOfString(bytes, from) - from - 2;
    if (length > limits.nameBytes)
      throw new RangeError(`a name of ${length} bytes, and ${limits.nameBytes} are the most`);
  };
  for (;;) {
    at = pastSpace(bytes, at);
    const first = bytes[at];
    if (first === OPEN_OBJECT || first === OPEN_LIST) {
      count();
      if (closing.length >= limits.levels) throw new RangeError(`more than ${limits.levels} levels`);
      at = pastSpace(bytes, at + 1);
      if (bytes[at] !== first + TO_CLOSE) {
        closing.push(first + TO_CLOSE);
        if (first === OPEN_OBJECT) passName();
        continue;
      }
      at += 1;
    } else at = endOfScalar(bytes, at);
    for (;;) {
      const close = closing.at(-1);
      if (close === undefined) return at;
      at = pastSpace(bytes, at);
      if (bytes[at] === close) {
        closing.pop();
        at += 1;
        continue;
      }
      if (bytes[at] !== COMMA) throw noJson(at);
      count();
      at += 1;
      if (close === CLOSE_OBJECT) passName();
      break;
    }
  }
}

/** Whether bytes are JSON, and nothing else. */
export function isJson(bytes: Uint8Array): boolean {
  try {
    return pastSpace(bytes, endOfJson(bytes)) === bytes.length;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/**
 * Lists the members of an object or the items of a list in bytes of JSON. Yields nothing for any other value.
 *
 * @param start - Where it begins, or white space before it.
 * @throws SyntaxError for invalid JSON.
 */
export function* partsOfJson(bytes: Uint8Array, start = 0): Generator<JsonPart, void> {
  let at = pastSpace(bytes, start);
  const open = bytes[at];
  if (open !== OPEN_OBJECT && open !== OPEN_LIST) return;
  at = pastSpace(bytes, at + 1);
  if (bytes[at] === open + TO_CLOSE) return;
  for (;;) {
    const from = at;
    const part: JsonPart = { from, start: from, end: 0 };
    if (open === OPEN_OBJECT) {
      const value = pastName(bytes, from);
      part.name = JSON.parse(decoded(bytes.subarray(from, endOfString(bytes, from)))) as string;
      part.start = pastSpace(bytes, value);
    }
    part.end = endOfJson(bytes, part.start);
    yield part;
    at = pastSpace(bytes, part.end);
    if (bytes[at] === open + TO_CLOSE) return;
    if (bytes[at] !== COMMA) throw noJson(at);
    at = pastSpace(bytes, at + 1);
  }
}

/** Reads the value at a place in bytes of JSON. @throws SyntaxError for invalid JSON. */
export function readJson(bytes: Uint8Array, { start, end }: Pick<JsonPart, "start" | "end">): unknown {
  return JSON.parse(decoded(bytes.subarray(start, end)));
}

/**
 * Decodes a JSON string in place: afterwards its bytes are plain UTF-8, and no longer JSON.
 *
 * @returns the decoded bytes, a part of those given.
 */
export function decodeTextInPlace(
  bytes: Uint8Array,
  { start, end }: Pick<JsonPart, "start" | "end">,
): Uint8Array {
  const encoder = new TextEncoder();
  const last = end - 1;
  let to = start + 1;
  for (let from = to; from < last;) {
    let at = from;
    // Two escapes may form one character.
    while (at < last && (at - from < DECODED_BYTES || bytes[at] === BACKSLASH)) at = pastCharacter(bytes, at);
    const text = JSON.parse(`"${decoded(bytes.subarray(from, at))}"`) as string;
    to += encoder.encodeInto(text, bytes.subarray(to, at)).written;
    from = at;
  }
  return bytes.subarray(start + 1, to);
}

/** Where the next character of a text of JSON begins. */
export function pastCharacter(bytes: Uint8Array, at: number): number {
  if (bytes[at] === BACKSLASH) return at + (bytes[at + 1] === LETTER_U ? 6 : 2);
  let next = at + 1;
  while (((bytes[next] ?? 0) & 0xc0) === 0x80) next += 1;
  return next;
}

function pastSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  for (let byte = bytes[at]; byte === 32 || byte === 10 || byte === 13 || byte === 9; byte = bytes[at])
    at += 1;
  return at;
}

/** The place after a name and its colon. */
function pastName(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== QUOTE) throw noJson(start);
  const at = pastSpace(bytes, endOfString(bytes, start));
  if (bytes[at] !== COLON) throw noJson(at);
  return at + 1;
}

function endOfString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) return at + 1;
    if (byte < 32) throw noJson(at);
    if (byte !== BACKSLASH) continue;
    at += 1;
    if (bytes[at] === LETTER_U) {
      if (!bytes.subarray(at + 1, at + 5).every(isHex) || at + 5 > bytes.length) throw noJson(at);
      at += 4;
    } else if (!ESCAPED.has(bytes[at] ?? 0)) throw noJson(at);
  }
  throw noJson(bytes.length);
}

function endOfScalar(bytes: Uint8Array, start: number): number {
  if (bytes[start] === QUOTE) return endOfString(bytes, start);
  const literal = LITERALS.find(([first]) => first === bytes[start]);
  if (literal === undefined) return endOfNumber(bytes, start);
  if (!literal.every((byte, index) => bytes[start + index] === byte)) throw noJson(start);
  return start + literal.length;
}

function endOfNumber(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === 0x2d ? start + 1 : start;
  at = bytes[at] === 0x30 ? at + 1 : pastDigits(bytes, at);
  if (bytes[at] === 0x2e) at = pastDigits(bytes, at + 1);
  if (((bytes[at] ?? 0) | 32) !== 0x65) return at;
  at += 1;
  return pastDigits(bytes, bytes[at] === 0x2b || bytes[at] === 0x2d ? at + 1 : at);
}

function pastDigits(bytes: Uint8Array, start: number): number {
  let at = start;
  while (((bytes[at] ?? 0) ^ 0x30) < 10) at += 1;
  if (at === start) throw noJson(at);
  return at;
}

function isHex(byte: number): boolean {
  return (byte ^ 0x30) < 10 || ((byte | 32) >= 0x61 && (byte | 32) <= 0x66);
}

function decoded(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function noJson(at: number): SyntaxError {
  return new SyntaxError(`No JSON at byte ${at}.`);
}
