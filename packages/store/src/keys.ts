import { types } from "node:util";
import { CemError } from "@cem/core";
import type { Store, StoreKey } from "@cem/core";

/** The largest value or entry that a store takes. */
export const MAX_VALUE_BYTES = 64 * 1024 * 1024;

/** @throws CemError `STORE_VALUE_TOO_LARGE`; `OPTION_INVALID` for a value that is not bytes. */
export function checkSize(key: StoreKey, value: Uint8Array): void {
  const isBytes = types.isUint8Array(value);
  if (isBytes && value.byteLength <= MAX_VALUE_BYTES) return;
  encodeKey(key); // throws for an invalid key, which a message can't show
  if (!isBytes)
    throw new CemError("OPTION_INVALID", `The value of ${key.join("/")} has to be a Uint8Array.`, {
      details: { key: [...key] },
    });
  throw new CemError(
    "STORE_VALUE_TOO_LARGE",
    `The value of ${key.join("/")} has ${value.byteLength} bytes; a store takes ${MAX_VALUE_BYTES}.`,
    { details: { key: [...key], bytes: value.byteLength, limit: MAX_VALUE_BYTES } },
  );
}

/** Creates the error for a value that is not of the version that a writer has read. */
export function storeConflict(key: StoreKey): CemError {
  return new CemError("STORE_CONFLICT", `${key.join("/")} was changed by someone else since it was read.`, {
    details: { key: [...key] },
  });
}

/** Returns a URL for display: without user, password and parameters. */
export function shownLocation(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

const MAX_PARTS = 8;
const MAX_PART_CHARACTERS = 255;
/** PostgreSQL's index accepts little more than twice this. */
const MAX_KEY_BYTES = 1_024;
const SEPARATOR = 0;
const ESCAPE = 1;

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Encodes a key as bytes that sort as keys do: parts in UTF-8, separated by the only zeros.
 *
 * @throws CemError `STORE_KEY_INVALID`.
 */
export function encodeKey(key: StoreKey): Buffer {
  checkTexts(key);
  if (key.length === 0 || key.length > MAX_PARTS)
    throw invalidKey(key, `it has ${key.length} parts; 1 to ${MAX_PARTS} are allowed`);
  const parts = key.flatMap((part) => [Buffer.of(SEPARATOR), encodePart(key, part)]);
  const bytes = Buffer.concat(parts.slice(1));
  if (bytes.length > MAX_KEY_BYTES)
    throw invalidKey(key, `it has ${bytes.length} bytes; ${MAX_KEY_BYTES} are allowed`);
  return bytes;
}

export function decodeKey(bytes: Uint8Array): StoreKey {
  const parts: number[][] = [[]];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === SEPARATOR) parts.push([]);
    else if (byte === ESCAPE) parts.at(-1)?.push((bytes[(at += 1)] ?? 1) - 1);
    else parts.at(-1)?.push(byte);
  }
  return parts.map((part) => decoder.decode(Uint8Array.from(part)));
}

/** The bounds of the keys that begin with these parts, after a key: from `from` on and below `to`, as {@link encodeKey} gives them. */
export function rangeOf(prefix: StoreKey, after?: StoreKey): { from: Buffer; to: Buffer } {
  checkTexts(prefix);
  const within = prefix.length === 0 ? undefined : encodeKey(prefix);
  const from = within ?? Buffer.alloc(0);
  // No part begins with byte 255, which UTF-8 never contains. The zero after a part is its separator.
  const to = within === undefined ? Buffer.of(255) : Buffer.concat([within, Buffer.of(ESCAPE)]);
  if (after === undefined) return { from, to };
  const next = Buffer.concat([encodeKey(after), Buffer.of(SEPARATOR)]);
  return { from: Buffer.compare(next, from) > 0 ? next : from, to };
}

/** For callers that the compiler did not check: the key may not be a list, or not a list of texts. */
function checkTexts(key: StoreKey): void {
  if (Array.isArray(key) && key.every((part) => typeof part === "string")) return;
  throw new CemError("STORE_KEY_INVALID", "A key of a store has to be a list of texts.");
}

function encodePart(key: StoreKey, part: string): Buffer {
  if (part === "" || part.length > MAX_PART_CHARACTERS)
    throw invalidKey(key, `a part has ${part.length} characters; 1 to ${MAX_PART_CHARACTERS} are allowed`);
  if (!part.isWellFormed()) throw invalidKey(key, "a part is not valid Unicode");
  const bytes = Buffer.from(part);
  if (!bytes.includes(SEPARATOR) && !bytes.includes(ESCAPE)) return bytes;
  return Buffer.from([...bytes].flatMap((byte) => (byte <= ESCAPE ? [ESCAPE, byte + 1] : [byte])));
}

function invalidKey(key: StoreKey, why: string): CemError {
  const shown = key.slice(0, MAX_PARTS).map((part) => part.slice(0, 40));
  return new CemError("STORE_KEY_INVALID", `${JSON.stringify(shown)} is not a valid key of a store: ${why}.`);
}

/** Maximum number of keys or entries in one answer. */
const MAX_PAGE = 1_000;

export function pageSize(limit: number = MAX_PAGE): number {
  return Math.min(MAX_PAGE, Math.max(0, Math.trunc(limit)));
}

/** Restricts a store to keys that begin with these parts, for one owner or one purpose. Closing it does nothing. */
export function scopeStore(store: Store, ...scope: [string, ...string[]]): Store {
  const under = (prefix: StoreKey): StoreKey => [...scope, ...prefix];
  const within = (key: StoreKey): StoreKey => {
    encodeKey(key); // refuses an invalid key, as the whole store would
    return under(key);
  };
  return {
    specificationVersion: "v1",
    location: store.location,
    read: async (key) => store.read(within(key)),
    write: async (key, value, options) => store.write(within(key), value, options),
    remove: async (key, version) => store.remove(within(key), version),
    list: async (prefix, { after, limit } = {}) => {
      checkTexts(prefix);
      const own = { limit, after: after === undefined ? undefined : within(after) };
      const found = await store.list(under(prefix), own);
      return found.map((key) => key.slice(scope.length));
    },
    now: async () => store.now(),
    removeAll: async (prefix) => store.removeAll(within(prefix)),
    close: async () => {},
  };
}
