const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Maximum nesting of a value that crosses between host and guest. */
export const MAX_VALUE_DEPTH = 500;

/** Maximum number of values in a value that crosses between host and guest. Parsing 2,700,000 empty arrays takes a second. */
export const MAX_VALUES = 1_000_000;

/**
 * Maximum number of different member names in one. Objects without shared names cost many times as much as lists or
 * rows of as many values.
 */
export const MAX_NAMES = 100_000;

/** Nesting depth and size of JSON text, counted up to the first exceeded limit. */
export interface JsonShape {
  depth: number;
  /** The number of commas, arrays and objects: at most two for each value. */
  marks: number;
  /** The number of different member names; the number of members when it does not exceed the limit. */
  names: number;
}

/** Measures JSON text without parsing it. Stops as soon as it exceeds a limit. */
export function measureJson(json: Buffer, limits: JsonShape): JsonShape {
  let depth = 0;
  let deepest = 0;
  let marks = 0;
  let members = 0;
  for (let index = 0; index < json.length; index += 1) {
    const byte = json[index];
    if (byte === QUOTE) {
      index = endOfString(json, index);
    } else if (byte === COLON) {
      members += 1;
    } else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
      depth += 1;
      marks += 1;
      if (depth > deepest) deepest = depth;
      if (deepest > limits.depth || marks > limits.marks) break;
    } else if (byte === COMMA) {
      marks += 1;
      if (marks > limits.marks) break;
    } else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) {
      depth -= 1;
    }
  }
  const names = members > limits.names ? differentNames(json, limits.names) : members;
  return { depth: deepest, marks, names };
}

/** Counts different member names, up to the first beyond the limit. */
function differentNames(json: Buffer, limit: number): number {
  const names = new Set<string>();
  let stringAt = 0;
  for (let index = 0; index < json.length && names.size <= limit; index += 1) {
    const byte = json[index];
    if (byte === QUOTE) {
      stringAt = index;
      index = endOfString(json, index);
    } else if (byte === COLON) {
      names.add(json.toString("latin1", stringAt, index));
      stringAt = index;
    }
  }
  return names.size;
}

/** The index of the quote that closes the string opened at `start`; the text's length when none does. */
function endOfString(json: Buffer, start: number): number {
  let end = json.indexOf(QUOTE, start + 1);
  while (end !== -1) {
    let slashes = 0;
    while (json[end - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
    end = json.indexOf(QUOTE, end + 1);
  }
  return json.length;
}
