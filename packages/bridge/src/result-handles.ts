import { hash } from "node:crypto";
import { copyWholeWords, partsOfJson, readJson, RESULT_EXTENSIONS, resultTooLarge } from "@cem/core";
import type { JsonObject, JsonValue, ResultHandle, ResultStore } from "@cem/core";

/** Larger results become handles if there is a store. In bytes. */
export const DEFAULT_MAX_INLINE_BYTES = 1024 * 1024;
/** Larger results fail if there is no store. In bytes. */
const MAX_UNSTORED_BYTES = 8 * 1024 * 1024;
const MAX_PREVIEW_CHARACTERS = 400;
/** Number of bytes that always contain enough characters for a preview. */
const MAX_PREVIEW_BYTES = 2_048;
const MAX_NAME_CHARACTERS = 80;
/** Members of a stored object up to this size are included in its handle. In characters of JSON. */
const MAX_SMALL_CHARACTERS = 500;
/** A member with more bytes can't be small. */
const MAX_SMALL_BYTES = 8 * MAX_SMALL_CHARACTERS;
const MAX_SPACE = 32;
/** The names of an object with more members are left out. */
const MAX_SHAPE_NAMES = 200;

type ResultShape = NonNullable<ResultHandle["shape"]>;

/** Storage of large and binary results. */
export interface ResultKeeping {
  /** Stores results as files. Without one, bytes are returned as base64 and large results fail. */
  store?: ResultStore | undefined;
  /**
   * The size from which a result is stored, in bytes of JSON.
   *
   * @defaultValue {@link DEFAULT_MAX_INLINE_BYTES}
   */
  maxInlineBytes?: number | undefined;
}

/** Bytes in a result. */
export interface Attachment {
  type: ResultHandle["type"];
  mimeType: string;
  bytes: Uint8Array;
  /** The name of the file, without its extension. */
  name: string;
  /** The URI of the bytes at the tool's server. */
  uri?: string | undefined;
}

/** Stores equal bytes of a result only once: all their handles have the same path. */
export function keepOnce({ store, ...keeping }: ResultKeeping): ResultKeeping {
  if (store === undefined) return keeping;
  const kept = new Map<string, ReturnType<ResultStore["write"]>>();
  return {
    ...keeping,
    store: {
      specificationVersion: "v1",
      async write(bytes, mimeType, suggestedName) {
        const digest = hash("sha256", bytes, "base64url");
        let writing = kept.get(digest);
        if (writing === undefined) kept.set(digest, (writing = store.write(bytes, mimeType, suggestedName)));
        return writing;
      },
      read: (path, range) => store.read(path, range),
    },
  };
}

/** Stores bytes and returns their handle; without a store, returns them as base64, or leaves them out if they are large. */
export async function keepBytes(
  attachment: Attachment,
  { store, maxInlineBytes = DEFAULT_MAX_INLINE_BYTES }: ResultKeeping,
): Promise<JsonObject> {
  if (store !== undefined) return write(store, attachment);
  const { type, mimeType, bytes, uri } = attachment;
  const description = { type, mimeType, size: bytes.length, ...(uri !== undefined && { uri }) };
  if (bytes.length <= maxInlineBytes) {
    return { ...description, data: Buffer.from(bytes).toString("base64") };
  }
  return {
    ...description,
    omitted: `more than ${maxInlineBytes} bytes, and there is no place to keep them`,
  };
}

export interface FittedTool {
  server: string;
  name: string;
  isTyped?: boolean | undefined;
}

/**
 * Returns a value, or stores it and returns its handle if it is larger than `maxInlineBytes`.
 *
 * @throws CemError `RESULT_TOO_LARGE` for a large value without a store.
 */
export function fitValue(tool: FittedTool, value: JsonValue, keeping: ResultKeeping): Promise<JsonValue> {
  return fitJson(tool, JSON.stringify(value), () => value, keeping);
}

/** Does the same for a value that was serialized already and is read only if it is needed. */
export async function fitJson(
  tool: FittedTool,
  json: string,
  read: () => JsonValue,
  keeping: ResultKeeping,
): Promise<JsonValue> {
  const size = Buffer.byteLength(json);
  if (size <= limitOf(keeping)) return read();
  return json.startsWith('"')
    ? keep(tool, "text", size, () => Buffer.from(read() as string), keeping)
    : keep(tool, "json", size, () => Buffer.from(json), keeping);
}

/** Does the same for the bytes of a text or of other JSON. If they are stored, only the small members of an object are parsed. */
export async function fitBytes(
  tool: FittedTool,
  type: "text" | "json",
  bytes: Uint8Array,
  keeping: ResultKeeping,
): Promise<JsonValue> {
  if (bytes.length > limitOf(keeping)) return keep(tool, type, bytes.length, () => bytes, keeping);
  return type === "text" ? decode(bytes) : (readJson(bytes, { start: 0, end: bytes.length }) as JsonValue);
}

/** @param size - The size that an error reports, in bytes. */
async function keep(
  { server, name, isTyped }: FittedTool,
  type: "text" | "json",
  size: number,
  read: () => Uint8Array,
  keeping: ResultKeeping,
): Promise<JsonValue> {
  if (keeping.store === undefined) throw resultTooLarge({ server, tool: name }, size, limitOf(keeping));
  const bytes = read();
  const mimeType = type === "text" ? "text/plain" : "application/json";
  const preview = copyWholeWords(decode(bytes.subarray(0, MAX_PREVIEW_BYTES)), MAX_PREVIEW_CHARACTERS);
  const shape = type === "json" ? shapeOf(bytes) : isTyped === true ? ({ kind: "text" } as const) : undefined;
  const handle = await write(keeping.store, { type, mimeType, bytes, name });
  return { ...handle, preview, ...(shape && { shape }) };
}

function limitOf({ store, maxInlineBytes = DEFAULT_MAX_INLINE_BYTES }: ResultKeeping): number {
  return store === undefined ? Math.max(maxInlineBytes, MAX_UNSTORED_BYTES) : maxInlineBytes;
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
}

/** The shape of a list or object. Its small members often save code from reading the whole value. */
function shapeOf(json: Uint8Array): ResultShape | undefined {
  const first = String.fromCharCode(json.find((byte) => byte > MAX_SPACE) ?? 0);
  if (first === "[") return { kind: "list" };
  if (first !== "{") return undefined;
  // As an object, so that names are in the same order as in code.
  const places = Object.fromEntries(
    Array.from(partsOfJson(json), (part) => [part.name ?? "", part] as const),
  );
  const names = Object.keys(places);
  if (names.length > MAX_SHAPE_NAMES) return { kind: "record" };
  const small = Object.entries(places)
    .filter(([, { start, end }]) => end - start <= MAX_SMALL_BYTES)
    .map(([name, place]) => [name, readJson(json, place) as JsonValue] as const)
    .filter(([, member]) => JSON.stringify(member).length <= MAX_SMALL_CHARACTERS);
  return { kind: "object", names, small: Object.fromEntries(small) };
}

async function write(store: ResultStore, attachment: Attachment): Promise<JsonObject> {
  const { type, mimeType, bytes, name, uri } = attachment;
  const { path, size } = await store.write(bytes, mimeType, fileName(name, mimeType));
  return { type, mimeType, size, path, ...(uri !== undefined && { uri }) };
}

/** Creates a safe file name. Names and types come from servers and are untrusted. */
function fileName(name: string, mimeType: string): string {
  const base = name.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^-+|(?<!-)-+$/g, "");
  const extension = RESULT_EXTENSIONS[mimeType] ?? (mimeType.startsWith("text/") ? "txt" : "bin");
  return `${base.slice(0, MAX_NAME_CHARACTERS) || "result"}.${extension}`;
}

/** Returns the MIME type in what a server states, without parameters; or `fallback` when it states none. */
export function readMimeType(value: unknown, fallback: string): string {
  if (typeof value !== "string") return fallback;
  const essence = value.split(";")[0]?.trim().toLowerCase() ?? "";
  return /^[a-z0-9!#$&^_.+-]{1,60}\/[a-z0-9!#$&^_.+-]{1,80}$/.test(essence) ? essence : fallback;
}
