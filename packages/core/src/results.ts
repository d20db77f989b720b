import type { JsonValue } from "./json.ts";

/** What stands in a value for bytes that are kept elsewhere. Plain JSON, so it can travel inside any value. */
export interface ResultHandle {
  type: "image" | "audio" | "resource" | "text" | "json";
  mimeType: string;
  /** In bytes. */
  size: number;
  /** Where guest code reads it: `/workspace/results/…`. */
  path: string;
  /** The beginning, of text. */
  preview?: string;
  uri?: string;
}

/** A piece of a kept result. */
export interface ResultPage {
  bytes: Uint8Array;
  mimeType: string;
  /** Where this piece begins, in bytes. */
  offset: number;
  /** The whole, in bytes. */
  size: number;
}

/** Keeps what is too large, or not text, where guest code can read it as a file. */
export interface ResultStore {
  readonly specificationVersion: "v1";
  /** Keeps bytes. `suggestedName` is a plain file name; it never becomes a path. */
  write(bytes: Uint8Array, mimeType: string, suggestedName: string): Promise<{ path: string; size: number }>;
  /**
   * Reads a piece of what was kept, by the `path` of its handle.
   *
   * @throws CemError `RESULT_NOT_FOUND` where nothing is kept under that path.
   */
  read(
    path: string,
    range?: { offset?: number | undefined; limit?: number | undefined },
  ): Promise<ResultPage>;
}

const KINDS: ReadonlySet<unknown> = new Set(["image", "audio", "resource", "text", "json"]);

export function isResultHandle(value: unknown): value is ResultHandle & Record<string, JsonValue> {
  if (typeof value !== "object" || value === null) return false;
  const { type, mimeType, size, path } = value as Record<string, unknown>;
  return (
    KINDS.has(type) && typeof mimeType === "string" && typeof size === "number" && typeof path === "string"
  );
}
