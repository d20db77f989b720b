import { isObject, type JsonValue } from "./json.ts";

/** A reference to bytes in a {@link ResultStore}, in place of the bytes. Plain JSON, so any value can contain it. */
export interface ResultHandle {
  type: "image" | "audio" | "resource" | "text" | "json";
  mimeType: string;
  /** Size in bytes. */
  size: number;
  /** Path of the file in the sandbox: `/workspace/results/…`. */
  path: string;
  /** The beginning of a text. */
  preview?: string;
  /** The URI that the tool's server gave the bytes. */
  uri?: string;
  /** The form of a value that was stored as a whole. With it, code receives the value itself, read lazily. */
  shape?: ResultShape;
}

/** The form of a stored value: for an object, its names in order and its small members. A record has many names. */
export type ResultShape =
  | { kind: "list" | "text" | "record" }
  | { kind: "object"; names: string[]; small: { [name: string]: JsonValue } };

/** A part of a stored result. */
export interface ResultPage {
  bytes: Uint8Array;
  mimeType: string;
  /** Position of the first byte within the result, in bytes. */
  offset: number;
  /** Size of the whole result, in bytes. */
  size: number;
}

/** Stores results that are large or not text as files that code in the sandbox can read. */
export interface ResultStore {
  readonly specificationVersion: "v1";
  /**
   * Stores bytes.
   *
   * @param suggestedName - A file name for people. Never used as a path.
   * @returns the file's path in the sandbox and its size in bytes.
   */
  write(bytes: Uint8Array, mimeType: string, suggestedName: string): Promise<{ path: string; size: number }>;
  /**
   * Reads a part of a stored result.
   *
   * @param path - The path of its handle.
   * @param range - First byte and number of bytes. Default: the whole result.
   * @throws CemError `RESULT_NOT_FOUND` when nothing is stored under the path, `OPTION_INVALID` for an invalid range.
   */
  read(
    path: string,
    range?: { offset?: number | undefined; limit?: number | undefined },
  ): Promise<ResultPage>;
}

const TYPES = new Set<unknown>(["image", "audio", "resource", "text", "json"]);

/** The endings of the files of stored results, by MIME type. */
export const RESULT_EXTENSIONS: Readonly<Record<string, string>> = {
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

/** Whether a value has the shape of a {@link ResultHandle}. A tool may return such a value without storing anything. */
export function isResultHandle(value: unknown): value is ResultHandle & Record<string, JsonValue> {
  if (!isObject(value)) return false;
  const { type, mimeType, size, path } = value;
  return (
    TYPES.has(type) && typeof mimeType === "string" && typeof size === "number" && typeof path === "string"
  );
}
