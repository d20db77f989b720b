import { isDeepStrictEqual } from "node:util";
import { keepBytes, readMimeType, type ResultKeeping } from "@cem/bridge";
import { isObject, parseJson, type JsonValue } from "@cem/core";
import * as z from "zod";
import type { RawToolResult } from "../connection/connection-types.ts";

const partSchema = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  data: z.string().optional(),
  mimeType: z.unknown().optional(),
  resource: z.looseObject({ uri: z.string().optional() }).optional(),
});
const resourceSchema = z.looseObject({
  uri: z.string().optional(),
  mimeType: z.unknown().optional(),
  text: z.string().optional(),
  blob: z.string().optional(),
});

/** Where the bytes of a content part are stored, and under which name. */
export interface PartContext extends ResultKeeping {
  /** Base name of stored files. */
  name: string;
}

/** The base64 of a part's bytes: of an image, audio or a resource. `undefined` for a part without. */
export function bytesOf(part: JsonValue): string | undefined {
  const parsed = partSchema.safeParse(part);
  if (!parsed.success) return undefined;
  const { type, data, resource } = parsed.data;
  if (type === "image" || type === "audio") return data;
  return type === "resource" ? resourceSchema.safeParse(resource).data?.blob : undefined;
}

/** Maps a content part to the value code receives: text to a string, anything else to an object with `type`. */
export async function mapPart(part: JsonValue, context: PartContext): Promise<JsonValue> {
  const parsed = partSchema.safeParse(part);
  if (!parsed.success) return part;
  const { type, text, data, resource } = parsed.data;
  if (type === "text" && text !== undefined) return text;
  if ((type === "image" || type === "audio") && data !== undefined) {
    const mimeType = readMimeType(parsed.data.mimeType, "application/octet-stream");
    return keepBytes({ type, mimeType, bytes: Buffer.from(data, "base64"), name: context.name }, context);
  }
  if (type === "resource" && resource !== undefined) return mapResource(resource, context);
  return part;
}

/** Maps the contents of a resource: text stays inline, bytes are stored. */
export async function mapResource(resource: unknown, context: PartContext): Promise<JsonValue> {
  const parsed = resourceSchema.safeParse(resource);
  if (!parsed.success) return resource as JsonValue;
  const { uri, text, blob } = parsed.data;
  if (blob === undefined) {
    const mimeType = readMimeType(parsed.data.mimeType, "text/plain");
    return { type: "resource", mimeType, ...(uri !== undefined && { uri }), text: text ?? "" };
  }
  const mimeType = readMimeType(parsed.data.mimeType, "application/octet-stream");
  // The URI may have personal values, which are replaced in the result but not in names of files.
  const { name } = context;
  return keepBytes({ type: "resource", mimeType, bytes: Buffer.from(blob, "base64"), name, uri }, context);
}

/** The text of a content part; `undefined` for a part of another kind. */
export function textOf(part: JsonValue): string | undefined {
  if (!isObject(part) || part["type"] !== "text") return undefined;
  return typeof part["text"] === "string" ? part["text"] : undefined;
}

/** May have more digits than a JavaScript number holds exactly. */
const LONG_NUMBER = /(?<![\d."])\d{16}/;

/**
 * Reads a text: parsed when the whole of it is a JSON object or array, and otherwise unchanged. Scalars are not parsed, so
 * that a tool whose text is `42` today and `n/a` tomorrow returns a text on both days. An integer that would lose digits
 * stays a text, since it may be the id of a record. (Node.js 20 can't detect this.)
 */
export function readText(text: string): JsonValue {
  if (!/^\s*[[{]/.test(text)) return text;
  const exact = LONG_NUMBER.test(text) ? parseJson(text, withAllDigits) : undefined;
  return ((exact ?? parseJson(text)) as JsonValue | undefined) ?? text;
}

/** Structured content with all digits of its integers, taken from a text part with the same content. `undefined` if there is none. */
export function exactContent({ structuredContent, content }: RawToolResult): JsonValue | undefined {
  const texts = structuredContent === undefined ? [] : content.map((part) => textOf(part) ?? "");
  const same = (text: string): boolean => isDeepStrictEqual(parseJson(text), structuredContent);
  return texts.filter((text) => LONG_NUMBER.test(text) && same(text)).map(readText)[0];
}

function withAllDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source ?? "";
  if (typeof value !== "number" || Number.isSafeInteger(value) || !/^-?\d+$/.test(source)) return value;
  // Times in nanoseconds are used in calculations and are not ids.
  return source.endsWith("000000") && `${value}` === source ? value : source;
}
