import { resultNotJson, type CemError, type JsonValue } from "@cem/core";
import { fitJson, keepBytes, keepOnce, readMimeType } from "./result-handles.ts";
import type { Attachment, FittedTool, ResultKeeping } from "./result-handles.ts";

/**
 * Converts what a host tool returned to JSON. Each `Blob`, `ArrayBuffer` and `Uint8Array` becomes a handle, or base64 without
 * a store; a `Set` a list, a `Map` an object and an `Error` its name and message; a large value becomes a handle as a whole.
 *
 * @throws CemError `RESULT_NOT_JSON`; `RESULT_TOO_LARGE` for a large value without a store.
 */
export async function toJsonResult(
  tool: FittedTool,
  value: unknown,
  keeping: ResultKeeping,
): Promise<JsonValue> {
  const notJson = (cause: unknown): CemError =>
    resultNotJson({ server: tool.server, tool: tool.name }, cause);
  const kept = new Map<unknown, unknown>();
  const once = keepOnce(keeping);
  for (const found of findObjects(value)) {
    if (isBinary(found)) kept.set(found, await keepBytes(await toAttachment(found, tool.name), once));
    else if (found instanceof Error) kept.set(found, { name: found.name, message: found.message });
    else if (isCollection(found))
      kept.set(found, found instanceof Map ? Object.fromEntries(found) : [...found.values()]);
    else throw notJson(`an object of type ${kindOf(found)}, in place of its values as a list or an object`);
  }
  const replace = function (this: Record<string, unknown>, key: string, inner: unknown): unknown {
    // `inner` may be what `toJSON` returned, for instance of a Buffer.
    return kept.get(this[key]) ?? inner;
  };
  let json: string | undefined;
  try {
    json = JSON.stringify(value, kept.size === 0 ? undefined : replace);
  } catch (cause) {
    throw notJson(cause);
  }
  // `NaN`, an invalid date and a function would be lost.
  const isDate = value instanceof Date;
  if ((json ?? "null") === "null" && (isDate || !isObject(value)) && value !== undefined && value !== null)
    throw notJson(isDate ? "an invalid date" : typeof value === "number" ? `${value}` : `a ${typeof value}`);
  const text = json ?? "null";
  return fitJson(tool, text, () => JSON.parse(text) as JsonValue, keeping);
}

/** Finds the objects in a value, which may be circular, that JSON would serialize as empty objects. */
function findObjects(root: unknown): ReadonlySet<object> {
  const found = new Set<object>();
  // A set can grow while it is iterated.
  const holders = new Set<object>();
  const look = (value: unknown): void => {
    if (!isObject(value)) return;
    if (isBinary(value)) found.add(value);
    else if (isPlain(value)) {
      // Objects without nested objects, such as the rows of large data, need not be visited.
      if (Object.values(value).some(isObject)) holders.add(value);
    } else if (isLostInJson(value) && !found.has(value)) {
      found.add(value);
      if (isCollection(value)) for (const inner of value.values()) look(inner);
    }
  };
  look(root);
  for (const holder of holders) for (const inner of Object.values(holder)) look(inner);
  return found;
}

type Binary = Blob | ArrayBuffer | Uint8Array;

function isBinary(value: object): value is Binary {
  return value instanceof Blob || value instanceof ArrayBuffer || value instanceof Uint8Array;
}

const UNREAD_BY_JSON = /^(?:Error|Map|Set|Promise|(?:Async)?Generator|.* Iterator)$/;
const WRAPPED = /^(?:Boolean|Number|String)$/;

/** Whether JSON would lose the content of a built-in object, or serialize a typed array as an object with index keys. */
function isLostInJson(value: object): boolean {
  const kind = kindOf(value);
  if (kind === "Object" || "toJSON" in value) return false;
  if (UNREAD_BY_JSON.test(kind) || ArrayBuffer.isView(value)) return true;
  return Object.keys(value).length === 0 && !WRAPPED.test(kind);
}

function kindOf(value: object): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

function isCollection(value: object): value is ReadonlyMap<unknown, unknown> | ReadonlySet<unknown> {
  return value instanceof Set || (value instanceof Map && ![...value.keys()].some(isObject));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}

async function toAttachment(binary: Binary, name: string): Promise<Attachment> {
  const isBlob = binary instanceof Blob;
  const mimeType = readMimeType(isBlob ? binary.type : undefined, "application/octet-stream");
  const bytes = isBlob ? await binary.arrayBuffer() : binary;
  const whole = bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes);
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
