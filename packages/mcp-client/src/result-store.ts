import type { JsonObject, JsonValue } from "@cem/core";

/** Keeps what is too large, or not text, where the guest can read it. */
export interface ResultStore {
  /** Writes bytes and tells where the guest finds them. `suggestedName` is a plain file name. */
  write(bytes: Uint8Array, mimeType: string, suggestedName: string): Promise<{ path: string; size: number }>;
}

/** What stands in a result for bytes that are kept elsewhere. */
export interface ResultHandle {
  type: "image" | "audio" | "resource" | "text" | "json";
  mimeType: string;
  /** In bytes. */
  size: number;
  path: string;
  /** The beginning, of text. */
  preview?: string;
  uri?: string;
}

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

/** Bytes that a result carried. */
export interface Attachment {
  type: ResultHandle["type"];
  mimeType: string;
  bytes: Uint8Array;
  /** What to call the file, without its extension. */
  name: string;
  uri?: string | undefined;
}

/** Writes bytes to the store and returns the handle that stands for them. */
export async function keepAttachment(store: ResultStore, attachment: Attachment): Promise<JsonObject> {
  const { type, mimeType, bytes, name, uri } = attachment;
  const { path, size } = await store.write(bytes, mimeType, fileName(name, mimeType));
  return { type, mimeType, size, path, ...(uri === undefined ? {} : { uri }) };
}

/** Writes a large value to the store and returns the handle that stands for it. */
export async function keepValue(store: ResultStore, value: JsonValue, name: string): Promise<JsonObject> {
  const isText = typeof value === "string";
  const text = isText ? value : JSON.stringify(value);
  const handle = await keepAttachment(store, {
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
