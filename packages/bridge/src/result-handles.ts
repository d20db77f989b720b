import { CemError } from "@cem/core";
import type { JsonObject, JsonValue, ResultHandle, ResultStore } from "@cem/core";

/** Larger results become handles where there is a store. */
export const DEFAULT_MAX_INLINE_BYTES = 1024 * 1024;
/** Larger results can't be handed over without a store. */
const MAX_UNSTORED_BYTES = 8 * 1024 * 1024;
const MAX_PREVIEW_CHARACTERS = 1_000;
const MAX_NAME_CHARACTERS = 80;
const EXTENSIONS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
  "audio/wav": "wav",
  "audio/mpeg": "mp3",
  "audio/ogg": "ogg",
  "application/json": "json",
  "application/pdf": "pdf",
  "application/gzip": "gz",
  "application/zip": "zip",
  "text/plain": "txt",
  "text/html": "html",
  "text/csv": "csv",
  "text/markdown": "md",
};

/** Where results go that are large, or not text. */
export interface ResultKeeping {
  /** Absent: bytes come back as data, up to a bound. */
  store?: ResultStore | undefined;
  /** In bytes of JSON. Default: {@link DEFAULT_MAX_INLINE_BYTES}. */
  maxInlineBytes?: number | undefined;
}

/** Bytes that a result carried. */
export interface Attachment {
  type: ResultHandle["type"];
  mimeType: string;
  bytes: Uint8Array;
  /** What to call the file, without its extension. */
  name: string;
  uri?: string | undefined;
}

/** What stands for bytes in a result: a handle, or the bytes themselves as base64 where there is no store. */
export async function keepBytes(
  attachment: Attachment,
  { store, maxInlineBytes = DEFAULT_MAX_INLINE_BYTES }: ResultKeeping,
): Promise<JsonObject> {
  if (store !== undefined) return write(store, attachment);
  const { type, mimeType, bytes, uri } = attachment;
  const description = { type, mimeType, size: bytes.length, ...(uri === undefined ? {} : { uri }) };
  if (bytes.length <= maxInlineBytes) {
    return { ...description, data: Buffer.from(bytes).toString("base64") };
  }
  return {
    ...description,
    omitted: `more than ${maxInlineBytes} bytes, and there is no place to keep them`,
  };
}

/** Puts a value that is too large where the guest can read it, whole. */
export async function fitValue(
  tool: { server: string; name: string },
  value: JsonValue,
  { store, maxInlineBytes = DEFAULT_MAX_INLINE_BYTES }: ResultKeeping,
): Promise<JsonValue> {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (store !== undefined) return bytes <= maxInlineBytes ? value : keepValue(store, value, tool.name);
  if (bytes <= Math.max(maxInlineBytes, MAX_UNSTORED_BYTES)) return value;
  throw new CemError(
    "RESULT_TOO_LARGE",
    `${tool.server}.${tool.name} answered with ${bytes} bytes, more than the ${MAX_UNSTORED_BYTES} that can be ` +
      "handed over without a place to keep results. Ask for less at once.",
    { details: { ...tool, bytes, limitBytes: MAX_UNSTORED_BYTES } },
  );
}

async function write(store: ResultStore, attachment: Attachment): Promise<JsonObject> {
  const { type, mimeType, bytes, name, uri } = attachment;
  const { path, size } = await store.write(bytes, mimeType, fileName(name, mimeType));
  return { type, mimeType, size, path, ...(uri === undefined ? {} : { uri }) };
}

/** Writes a large value to the store and returns the handle that stands for it. */
async function keepValue(store: ResultStore, value: JsonValue, name: string): Promise<JsonObject> {
  const isText = typeof value === "string";
  const text = isText ? value : JSON.stringify(value);
  const handle = await write(store, {
    type: isText ? "text" : "json",
    mimeType: isText ? "text/plain" : "application/json",
    bytes: Buffer.from(text),
    name,
  });
  return { ...handle, preview: text.slice(0, MAX_PREVIEW_CHARACTERS) };
}

/** Servers choose names and types; neither may become a path. */
function fileName(name: string, mimeType: string): string {
  const base = name.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "");
  const extension = EXTENSIONS[mimeType] ?? (mimeType.startsWith("text/") ? "txt" : "bin");
  return `${base.slice(0, MAX_NAME_CHARACTERS) || "result"}.${extension}`;
}

/** A type as a server states it, if it is one. */
export function readMimeType(value: unknown, fallback: string): string {
  if (typeof value !== "string") return fallback;
  const essence = value.split(";")[0]?.trim().toLowerCase() ?? "";
  return /^[a-z0-9!#$&^_.+-]{1,60}\/[a-z0-9!#$&^_.+-]{1,80}$/.test(essence) ? essence : fallback;
}
