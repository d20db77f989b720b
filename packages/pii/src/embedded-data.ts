import { parseJson } from "@cem/core";

/** The alphabet of the protocol's base64, which may be broken into lines. */
const BASE64_WHOLE = /^[A-Za-z\d+/=\s]{4,}$/;
/** Base64 of bytes that are no text. What is shorter may as well be a value: a key, a password. */
const MIN_BINARY_CHARACTERS = 256;
/** So much of bytes tells whether they are text. */
const PROBED_BYTES = 65_536;
/** A text may have a stray control character; images, archives and programs have one in ten and more. */
const MAX_CONTROL_SHARE = 0.02;
const CHARACTERS_AT_ONCE = 8_192;

/** The text that bytes are, with the way back to bytes of the same encoding. */
interface DecodedText {
  text: string;
  encode(text: string): Uint8Array;
}

/**
 * Reads bytes as text, whatever type they are declared to have: UTF-8, UTF-16 with a byte order mark, else Latin-1.
 *
 * @returns `undefined` for bytes that are no text.
 */
export function decodeText(bytes: Uint8Array): DecodedText | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return decodeUtf16(bytes, true);
  if (first === 0xfe && second === 0xff) return decodeUtf16(bytes, false);
  if (isBinary(bytes)) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, encode: (changed) => new TextEncoder().encode(changed) };
  } catch {
    return { text: charactersOf(bytes), encode: bytesOf };
  }
}

/** A text that stands in data as base64. `bytes`: bytes that are no text. */
export type EmbeddedText = { text: string; encode(text: string): string } | "bytes";

/**
 * Reads the base64 that a member of an object holds: `blob` of a resource, `data` of an image, a sound or a file.
 *
 * @returns `undefined` for a member that holds no base64.
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

/** JSON is looked at by its members, any other text as it is. */
function parsedText(text: string): unknown {
  return /^\s*[[{]/.test(text) ? (parseJson(text) ?? text) : text;
}

/** JSON, and lines of JSON, by their members; any other text as it is. With the way back: what nothing changed stays as it is written. */
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

function isBinary(bytes: Uint8Array): boolean {
  const probed = Math.min(bytes.length, PROBED_BYTES);
  let controls = 0;
  for (let at = 0; at < probed; at += 1) {
    const byte = bytes[at] ?? 0;
    // Tab, line feed, form feed and the like are of texts, and so is the escape of coloured output.
    if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27)) controls += 1;
  }
  return controls > probed * MAX_CONTROL_SHARE;
}

function decodeUtf16(bytes: Uint8Array, isLittle: boolean): DecodedText {
  const encoding = isLittle ? "utf-16le" : "utf-16be";
  return {
    text: new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes),
    encode(changed) {
      const encoded = new DataView(new ArrayBuffer(changed.length * 2));
      for (let at = 0; at < changed.length; at += 1)
        encoded.setUint16(at * 2, changed.charCodeAt(at), isLittle);
      return new Uint8Array(encoded.buffer);
    },
  };
}

/** One character for each byte. */
function charactersOf(bytes: Uint8Array): string {
  let characters = "";
  for (let at = 0; at < bytes.length; at += CHARACTERS_AT_ONCE)
    characters += String.fromCharCode(...bytes.subarray(at, at + CHARACTERS_AT_ONCE));
  return characters;
}

export function bytesOf(characters: string): Uint8Array {
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = characters.charCodeAt(at);
  return bytes;
}
