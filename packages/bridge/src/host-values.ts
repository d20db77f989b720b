import { CemError } from "@cem/core";
import type { JsonObject, JsonValue } from "@cem/core";
import { keepBytes, readMimeType } from "./result-handles.ts";
import type { Attachment, ResultKeeping } from "./result-handles.ts";

/** Deeper than this nothing is looked for: what nests so deep is no argument and no file. */
const MAX_DEPTH = 100;

/** A copy without the keys by which data from JSON could change how objects behave. */
export function withoutPrototypeKeys(value: JsonValue, depth = 0): JsonValue {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => withoutPrototypeKeys(item, depth + 1));
  const copy: JsonObject = {};
  for (const [key, inner] of Object.entries(value)) {
    if (key === "__proto__" || (key === "constructor" && isObject(inner) && "prototype" in inner)) continue;
    copy[key] = withoutPrototypeKeys(inner, depth + 1);
  }
  return copy;
}

/** What a tool returned as JSON, with its bytes kept elsewhere. */
export async function toJsonResult(
  tool: { server: string; name: string },
  value: unknown,
  keeping: ResultKeeping,
): Promise<JsonValue> {
  const kept = await withBytesKept(value, tool.name, keeping, 0);
  try {
    const text = JSON.stringify(kept) as string | undefined;
    return text === undefined ? null : (JSON.parse(text) as JsonValue);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new CemError(
      "RESULT_NOT_JSON",
      `${tool.server}.${tool.name} returned what JSON can't carry: ${why}.`,
      { details: { server: tool.server, tool: tool.name }, cause },
    );
  }
}

async function withBytesKept(
  value: unknown,
  name: string,
  keeping: ResultKeeping,
  depth: number,
): Promise<unknown> {
  if (!holdsBytes(value, depth)) return value;
  if (value instanceof Blob) {
    return keepBytes(attachmentOf(new Uint8Array(await value.arrayBuffer()), value.type, name), keeping);
  }
  if (value instanceof Uint8Array) return keepBytes(attachmentOf(value, "", name), keeping);
  const inner = (item: unknown): Promise<unknown> => withBytesKept(item, name, keeping, depth + 1);
  if (Array.isArray(value)) return Promise.all(value.map(inner));
  const entries = Object.entries(value).map(async ([key, item]) => [key, await inner(item)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/** Looks without promises: results can have millions of parts, and few hold bytes. */
function holdsBytes(value: unknown, depth: number): value is object {
  if (!isObject(value) || depth > MAX_DEPTH) return false;
  if (value instanceof Blob || value instanceof Uint8Array) return true;
  const inner = (item: unknown): boolean => holdsBytes(item, depth + 1);
  if (Array.isArray(value)) return value.some(inner);
  const prototype: unknown = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && Object.values(value).some(inner);
}

function attachmentOf(bytes: Uint8Array, stated: string, name: string): Attachment {
  const mimeType = readMimeType(stated, "application/octet-stream");
  const [family = ""] = mimeType.split("/");
  const type =
    family === "image" || family === "audio" || family === "text"
      ? family
      : mimeType === "application/json"
        ? "json"
        : "resource";
  return { type, mimeType, bytes, name };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
