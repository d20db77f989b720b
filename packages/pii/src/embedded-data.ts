import { parseJson } from "@cem/core";

/** The alphabet of the protocol's base64, which may contain line breaks. */
const BASE64_WHOLE = /^[A-Za-z\d+/=\s]{4,}$/;
/** Minimum length of base64 that counts as binary. Shorter ones may be a value: a key, a password. */
const MIN_BINARY_CHARACTERS = 256;
/** Number of bytes examined to decide whether they are text. */
const PROBED_BYTES = 65_536;
/** Maximum fraction of control characters in text. Images, archives and programs have 10 % and more. */
const MAX_CONTROL_SHARE = 0.02;
/** Half of all characters with a NUL as their high byte. */
const MIN_UTF16_NUL_SHARE = 0.25;
const CHARACTERS_AT_ONCE = 8_192;
/** Not a token, since each failure to parse one takes as long as a thousand characters. */
const MAY_BE_JSON = /^\s*(?:["{]|\[(?!\[[A-Z]))/;

/** Decoded text, with a function that encodes it in the same way. */
interface DecodedText {
  text: string;
  encode(text: string): Uint8Array;
}

/**
 * Decodes bytes as text, regardless of their declared type: UTF-8, UTF-16 (without a byte order mark if most
 * characters are Latin letters), else Latin-1.
 *
 * @returns `undefined` for bytes that are not text.
 */
export function decodeText(bytes: Uint8Array): DecodedText | undefined {
  const encoding = encodingOf(bytes);
  if (encoding === undefined) return undefined;
  if (encoding !== "utf-8") return decodeUtf16(bytes, encoding);
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, encode: (changed) => new TextEncoder().encode(changed) };
  } catch {
    // In data that is not UTF-8, NULs are not separators.
    if (nulsIn(bytes) > bytes.length * MAX_CONTROL_SHARE) return undefined;
    return { text: charactersOf(bytes), encode: bytesOf };
  }
}

/** A text embedded in data as base64. `bytes`: bytes that are not text. */
export type EmbeddedText = { text: string; encode(text: string): string } | "bytes";

/**
 * Decodes base64 in a member of an object: `blob` of a resource, `data` of an image, audio or a file.
 *
 * @returns `undefined` for a member that is not base64.
 */
export function embeddedText(holder: object, name: string, value: unknown): EmbeddedText | undefined {
  if (name !== "blob" && name !== "data") return undefined;
  if (typeof value !== "string" || (name === "data" && !("mimeType" in holder))) return undefined;
  if (!BASE64_WHOLE.test(value)) return undefined;
  let bytes: Uint8Array;
  try {
    bytes = bytesOf(atob(value));
  } catch {
    return undefined;
  }
  const decoded = decodeText(bytes);
  if (decoded === undefined) return value.length < MIN_BINARY_CHARACTERS ? undefined : "bytes";
  return { text: decoded.text, encode: (changed) => btoa(charactersOf(decoded.encode(changed))) };
}

/** Parses JSON; any other text is returned unchanged. */
function parsedText(text: string): unknown {
  return /^\s*[[{]/.test(text) ? (parseJson(text) ?? text) : text;
}

/**
 * Parses JSON and JSON lines; any other text is kept. Also returns a function to serialize it, which keeps unchanged parts
 * as written.
 */
export function membersOf(text: string): { data: unknown; write: (changed: unknown) => string } {
  const whole = parsedText(text);
  const lines = typeof whole === "string" ? text.split("\n") : [];
  const parsed = lines.map(parsedText);
  const write = (changed: unknown, before: unknown, written = ""): string =>
    changed === before ? written : typeof changed === "string" ? changed : JSON.stringify(changed);
  if (parsed.every((line) => typeof line === "string"))
    return { data: whole, write: (changed) => write(changed, whole, text) };
  return {
    data: parsed,
    write: (changed) =>
      (changed as unknown[]).map((line, at) => write(line, parsed[at], lines[at])).join("\n"),
  };
}

/**
 * Changes each string of JSON, or of JSON lines, and the other lines beside them. Everything else stays as written: blanks,
 * long numbers.
 *
 * @returns `undefined` for any other text.
 */
export function mapJson(
  text: string,
  change: (text: string, isString: boolean) => string,
): string | undefined {
  if (MAY_BE_JSON.test(text) && parseJson(text) !== undefined) return mapStrings(text, change);
  const lines = text.split("\n");
  if (lines.length === 1) return undefined;
  const mapped = lines.map((line) =>
    MAY_BE_JSON.test(line) && /[\]}]$/.test(line.trimEnd()) && parseJson(line) !== undefined
      ? mapStrings(line, change)
      : undefined,
  );
  if (mapped.every((line) => line === undefined)) return undefined;
  return mapped.map((line, at) => line ?? change(lines[at] ?? "", false)).join("\n");
}

/** Changes each string of valid JSON. A regular expression would need too much memory for a long one. */
function mapStrings(json: string, change: (text: string, isString: boolean) => string): string {
  let result = "";
  let from = 0;
  for (let start = json.indexOf('"'); start !== -1; start = json.indexOf('"', from)) {
    let end = start + 1;
    while (json[end] !== '"') end += json[end] === "\\" ? 2 : 1;
    const written = json.slice(start, end + 1);
    const plain = JSON.parse(written) as string;
    const changed = change(plain, true);
    result += json.slice(from, start) + (changed === plain ? written : JSON.stringify(changed));
    from = end + 1;
  }
  return result + json.slice(from);
}

/** The text that is written in a string of JSON. `undefined`: it would end the string. */
export function readString(written: string): string | undefined {
  return parseJson(`"${written}"`) as string | undefined;
}

/** Whether JSON writes a text in another way. */
export function isEscapedInJson(text: string): boolean {
  return /["\\\p{Cc}]/u.test(text);
}

/** The encoding of a text, where UTF-8 may also be Latin-1; `undefined` for binary data. */
export function encodingOf(bytes: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  const probed = bytes.subarray(0, PROBED_BYTES);
  const nuls = nulsIn(probed);
  if (nuls > probed.length * MIN_UTF16_NUL_SHARE) {
    const wide = nulsIn(probed, 1, 2) > nuls / 2 ? "utf-16le" : "utf-16be";
    const { text } = decodeUtf16(probed, wide);
    if (isText(Uint16Array.from(text, (character) => character.charCodeAt(0)))) return wide;
  }
  return isText(probed) ? "utf-8" : undefined;
}

function nulsIn(bytes: Uint8Array, from = 0, step = 1): number {
  if (!bytes.includes(0)) return 0;
  let nuls = 0;
  for (let at = from; at < bytes.length; at += step) if (bytes[at] === 0) nuls += 1;
  return nuls;
}

function isText(codes: ArrayLike<number>): boolean {
  // Tables of 16-bit numbers have C1 controls as often as letters, and every second half of a 32-bit number may be 0.
  const isWide = codes instanceof Uint16Array;
  let controls = 0;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    // A single NUL separates texts, as in the output of `env -0`. Tab, line feed, form feed and the like occur in text, as does
    // the escape character in coloured output.
    const isControl =
      code === 0
        ? codes[at + 1] === 0 || (isWide && codes[at + 2] === 0)
        : code < 9 || (code > 13 && code < 32 && code !== 27) || (isWide && code > 126 && code < 160);
    if (isControl) controls += 1;
  }
  return controls <= codes.length * MAX_CONTROL_SHARE;
}

/** Decodes each pair of bytes as it is, since a lone surrogate and an odd last byte must be encoded again unchanged. */
function decodeUtf16(bytes: Uint8Array, encoding: "utf-16le" | "utf-16be"): DecodedText {
  const isLittle = encoding === "utf-16le";
  const rest = bytes.subarray(bytes.length - (bytes.length % 2));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length - rest.length);
  const codes = new Uint16Array(view.byteLength / 2);
  for (let at = 0; at < codes.length; at += 1) codes[at] = view.getUint16(at * 2, isLittle);
  return {
    text: charactersOf(codes),
    encode(changed) {
      const encoded = new Uint8Array(changed.length * 2 + rest.length);
      const written = new DataView(encoded.buffer);
      for (let at = 0; at < changed.length; at += 1)
        written.setUint16(at * 2, changed.charCodeAt(at), isLittle);
      encoded.set(rest, changed.length * 2);
      return encoded;
    },
  };
}

/** One character for each byte or code unit. */
function charactersOf(codes: Uint8Array | Uint16Array): string {
  let characters = "";
  for (let at = 0; at < codes.length; at += CHARACTERS_AT_ONCE)
    characters += String.fromCharCode(...codes.subarray(at, at + CHARACTERS_AT_ONCE));
  return characters;
}

export function bytesOf(characters: string): Uint8Array {
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = characters.charCodeAt(at);
  return bytes;
}
