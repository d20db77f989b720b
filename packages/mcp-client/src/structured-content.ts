import type { JsonObject, JsonValue } from "@cem/core";
import { bytesOf, mapPart } from "./content-parts.ts";
import type { PartContext } from "./content-parts.ts";
import { isObject } from "./json-object.ts";

/** The key of content parts that are neither text nor inside the structured content. */
const ATTACHMENTS_KEY = "_attachments";
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const DATA_URL = /^data:[^,]{0,200};base64,/;

/** A place inside a value that holds bytes, and the content part that they are. */
interface Place {
  holder: JsonObject | JsonValue[];
  key: string | number;
  part: JsonValue;
}

/**
 * Maps structured content to the value code receives. Bytes inside it become handles: an image, audio or resource in
 * the form of a content part, and the base64 of one that came as a content part, too. The parts that are not inside it
 * are added under `_attachments`, as far as it is an object.
 *
 * @param structured - What the server sent. Handles are put in place.
 * @param parts - The content parts that are not text.
 */
export async function mapStructured(
  structured: JsonValue,
  parts: readonly JsonValue[],
  context: PartContext,
): Promise<JsonValue> {
  const root = { value: structured };
  const byBase64 = new Map<string, JsonValue>();
  for (const part of parts) {
    const base64 = bytesOf(part);
    if (base64 !== undefined && base64 !== "") byBase64.set(base64, part);
  }
  const inside = new Set<JsonValue | undefined>();
  for (const { holder, key, part } of findBytes(root, byBase64)) {
    const handle = await mapPart(part, context);
    Reflect.set(holder, key, handle);
    inside.add(identityOf(handle));
  }
  const mapped = await Promise.all(parts.map((part) => mapPart(part, context)));
  const others = mapped.filter((value) => !inside.has(identityOf(value)));
  const { value } = root;
  if (others.length === 0 || !isObject(value)) return value;
  return { [ATTACHMENTS_KEY]: others, ...value };
}

/** Finds bytes at any depth, without recursion: a value may be nested deeper than the call stack allows. */
function findBytes(root: JsonObject, byBase64: ReadonlyMap<string, JsonValue>): Place[] {
  const found: Place[] = [];
  const pending: (JsonObject | JsonValue[])[] = [root];
  const visit = (holder: Place["holder"], key: Place["key"], value: JsonValue): void => {
    if (typeof value === "string") {
      const part = byBase64.size === 0 ? undefined : byBase64.get(value.replace(DATA_URL, ""));
      if (part !== undefined) found.push({ holder, key, part });
    } else if (typeof value === "object" && value !== null) {
      if (isObject(value) && isBytesPart(value, byBase64)) found.push({ holder, key, part: value });
      else pending.push(value);
    }
  };
  // A result may have millions of values, so nothing is allocated for each.
  for (let holder = pending.pop(); holder !== undefined; holder = pending.pop()) {
    if (Array.isArray(holder)) {
      for (let index = 0; index < holder.length; index += 1) visit(holder, index, holder[index] as JsonValue);
    } else {
      for (const key of Object.keys(holder)) visit(holder, key, holder[key] as JsonValue);
    }
  }
  return found;
}

/** Whether an object is a content part with bytes. Other objects may have a `type` and `data`, too. */
function isBytesPart(value: JsonObject, known: ReadonlyMap<string, JsonValue>): boolean {
  const { type } = value;
  if (type !== "image" && type !== "audio" && type !== "resource") return false;
  const base64 = bytesOf(value);
  if (base64 === undefined || base64 === "") return false;
  if (known.has(base64)) return true;
  const mimeType = typeof value["mimeType"] === "string" ? value["mimeType"] : "";
  return (type === "resource" || mimeType.startsWith(`${type}/`)) && BASE64.test(base64);
}

/** What is the same in every handle of the same bytes. */
function identityOf(handle: JsonValue): JsonValue | undefined {
  return isObject(handle) ? (handle["path"] ?? handle["data"]) : undefined;
}
