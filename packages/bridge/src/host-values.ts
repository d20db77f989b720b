import { resultNotJson } from "@cem/core";
import type { JsonObject, JsonValue } from "@cem/core";
import { fitJson, keepBytes, keepOnce, readMimeType } from "./result-handles.ts";
import type { Attachment, FittedTool, ResultKeeping } from "./result-handles.ts";

/** Copies JSON without `__proto__` and `constructor.prototype`, which could change the behaviour of objects. */
export function withoutPrototypeKeys(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutPrototypeKeys);
  const copy: JsonObject = {};
  for (const [key, inner] of Object.entries(value)) {
    if (key === "__proto__" || (key === "constructor" && isObject(inner) && "prototype" in inner)) continue;
    copy[key] = withoutPrototypeKeys(inner);
  }
  return copy;
}

/**
 * Converts what a host tool returned to JSON. Each `Blob` and `Uint8Array` becomes a handle, or base64 without a store; a
 * large value becomes a handle as a whole.
 *
 * @throws CemError `RESULT_NOT_JSON`; `RESULT_TOO_LARGE` for a large value without a store.
 */
export async function toJsonResult(
  tool: FittedTool,
  value: unknown,
  keeping: ResultKeeping,
): Promise<JsonValue> {
  const kept = new Map<unknown, JsonValue>();
  const once = keepOnce(keeping);
  for (const bytes of findBytes(value)) {
    kept.set(bytes, await keepBytes(await toAttachment(bytes, tool.name), once));
  }
  const replace = function (this: Record<string, unknown>, key: string, inner: unknown): unknown {
    // `inner` may be what `toJSON` returned, for instance of a Buffer.
    return kept.get(this[key]) ?? inner;
  };
  let json: string;
  try {
    json = JSON.stringify(value, kept.size === 0 ? undefined : replace) ?? "null";
  } catch (cause) {
    throw resultNotJson({ server: tool.server, tool: tool.name }, cause);
  }
  return fitJson(tool, json, () => JSON.parse(json) as JsonValue, keeping);
}

/** Finds every `Blob` and `Uint8Array` in a value, which may be circular. */
function findBytes(root: unknown): ReadonlySet<Blob | Uint8Array> {
  const found = new Set<Blob | Uint8Array>();
  // A set can grow while it is iterated.
  const holders = new Set<object>();
  const look = (value: unknown): void => {
    if (!isObject(value)) return;
    if (value instanceof Blob || value instanceof Uint8Array) found.add(value);
    // The rows of large data hold no objects, and need not be remembered.
    else if (isPlain(value) && Object.values(value).some(isObject)) holders.add(value);
  };
  look(root);
  for (const holder of holders) for (const inner of Object.values(holder)) look(inner);
  return found;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}

async function toAttachment(bytes: Blob | Uint8Array, name: string): Promise<Attachment> {
  const isBlob = bytes instanceof Blob;
  const mimeType = readMimeType(isBlob ? bytes.type : undefined, "application/octet-stream");
  const whole = isBlob ? new Uint8Array(await bytes.arrayBuffer()) : bytes;
  return { type: handleType(mimeType), mimeType, bytes: whole, name };
}

function handleType(mimeType: string): Attachment["type"] {
  const [family = ""] = mimeType.split("/");
  if (family === "image" || family === "audio" || family === "text") return family;
  return mimeType === "application/json" ? "json" : "resource";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
