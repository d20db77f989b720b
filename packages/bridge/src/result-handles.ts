import { hash } from "node:crypto";
import { copyBeginning, isObject, RESULT_EXTENSIONS, resultTooLarge } from "@cem/core";
import type { JsonObject, JsonValue, ResultHandle, ResultStore } from "@cem/core";

/** Larger results become handles where there is a store. In bytes. */
export const DEFAULT_MAX_INLINE_BYTES = 1024 * 1024;
/** Larger results fail where there is no store. In bytes. */
const MAX_UNSTORED_BYTES = 8 * 1024 * 1024;
const MAX_PREVIEW_CHARACTERS = 400;
const MAX_NAME_CHARACTERS = 80;
/** A member of a stored object that is no longer comes with its handle. In characters of JSON. */
const MAX_SMALL_CHARACTERS = 500;
/** An object with more names comes without them. */
const MAX_SHAPE_NAMES = 200;

type ResultShape = NonNullable<ResultHandle["shape"]>;

/** Where results are stored that are large or not text. */
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
  /** The URI that the tool's server gave the bytes. */
  uri?: string | undefined;
}

/** Keeps the same bytes once, however often they come: every handle of them has the path of the first. For one result. */
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

/** Stores bytes and returns their handle; without a store, returns them as base64 or, if they are large, left out. */
export async function keepBytes(
  attachment: Attachment,
  { store, maxInlineBytes = DEFAULT_MAX_INLINE_BYTES }: ResultKeeping,
): Promise<JsonObject> {
  if (store !== undefined) return write(store, attachment);
  const { type, mimeType, bytes, uri } = attachment;
  const description = { type, mimeType, size: bytes.length, ...uriOf(uri) };
  if (bytes.length <= maxInlineBytes) {
    return { ...description, data: Buffer.from(bytes).toString("base64") };
  }
  return {
    ...description,
    omitted: `more than ${maxInlineBytes} bytes, and there is no place to keep them`,
  };
}

/** The tool whose result is fitted. */
export interface FittedTool {
  server: string;
  name: string;
  /** Whether its results are declared with a schema. */
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

/**
 * Does the same for a value that was serialized already.
 *
 * @param read - Gives the value. Called only where the value is needed.
 */
export async function fitJson(
  tool: FittedTool,
  json: string,
  read: () => JsonValue,
  { store, maxInlineBytes = DEFAULT_MAX_INLINE_BYTES }: ResultKeeping,
): Promise<JsonValue> {
  const { server, name } = tool;
  const limitBytes = store === undefined ? Math.max(maxInlineBytes, MAX_UNSTORED_BYTES) : maxInlineBytes;
  const bytes = Buffer.byteLength(json);
  if (bytes <= limitBytes) return read();
  if (store === undefined) throw resultTooLarge({ server, tool: name }, bytes, limitBytes);
  if (json.startsWith('"')) {
    const kept = await keepText(store, {
      type: "text",
      mimeType: "text/plain",
      text: read() as string,
      name,
    });
    return tool.isTyped === true ? { ...kept, shape: { kind: "text" } } : kept;
  }
  const kept = await keepText(store, { type: "json", mimeType: "application/json", text: json, name });
  const shape = shapeOf(read());
  return shape === undefined ? kept : { ...kept, shape };
}

/** The shape of a list or object. Small members spare code the reading of the whole. */
function shapeOf(value: JsonValue): ResultShape | undefined {
  if (Array.isArray(value)) return { kind: "list" };
  if (!isObject(value)) return undefined;
  const names = Object.keys(value);
  if (names.length > MAX_SHAPE_NAMES) return { kind: "record" };
  const small = Object.entries(value).filter(([, member]) => isSmall(member));
  return { kind: "object", names, small: Object.fromEntries(small) };
}

function isSmall(member: JsonValue): boolean {
  if (typeof member === "string" && member.length > MAX_SMALL_CHARACTERS) return false;
  if (Array.isArray(member) && member.length > MAX_SMALL_CHARACTERS) return false;
  return JSON.stringify(member).length <= MAX_SMALL_CHARACTERS;
}

async function write(store: ResultStore, attachment: Attachment): Promise<JsonObject> {
  const { type, mimeType, bytes, name, uri } = attachment;
  const { path, size } = await store.write(bytes, mimeType, fileName(name, mimeType));
  return { type, mimeType, size, path, ...uriOf(uri) };
}

/** Stores a text and returns its handle with the beginning. */
async function keepText(
  store: ResultStore,
  { text, ...attachment }: Omit<Attachment, "bytes"> & { text: string },
): Promise<JsonObject> {
  const handle = await write(store, { ...attachment, bytes: Buffer.from(text) });
  return { ...handle, preview: copyBeginning(text, MAX_PREVIEW_CHARACTERS) };
}

/** Handles are JSON, which has no `undefined`. */
function uriOf(uri: string | undefined): { uri?: string } {
  return uri === undefined ? {} : { uri };
}

/** Makes a safe file name. Names and types come from servers and are untrusted. */
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
