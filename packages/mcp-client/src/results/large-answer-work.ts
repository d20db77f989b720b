import { copyWholeWords, decodeTextInPlace, isJson, isObject, partsOfJson, readJson } from "@cem/core";
import type { JsonValue, ResultStore, ToolResult } from "@cem/core";
import { createResultCheck, fitBytes } from "@cem/bridge";
import type { ResultKeeping } from "@cem/bridge";
import { toRawResult } from "../connection/raw-result.ts";
import { assertPromised, mapToolResult } from "./result-mapping.ts";
import type { ResultOrigin } from "./result-mapping.ts";

const MAX_ERROR_CHARACTERS = 8_000;
const NO_RESULT = "The answer is no result.";
/** Larger members of an answer are not read to find out how to read the rest. */
const MAX_SHORT_BYTES = 256;
/** To look at more parts takes longer than to read the answer. */
const MAX_PARTS = 1_000;
const MAX_SPACE = 32;
const QUOTE = 0x22;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

/** How a large answer is read. */
export interface LargeAnswerRequest {
  bytes: Uint8Array;
  tool: ResultOrigin;
  maxInlineBytes: number | undefined;
  /** Begins the path of what is to be kept, until it is. Absent: there is no place for it. */
  mark: string | undefined;
}

/** A large answer that was read. */
export interface LargeAnswer {
  /** Small, with marked paths. */
  result: ToolResult;
  /** By the number after the mark. */
  kept: { bytes: Uint8Array; mimeType: string; name: string }[];
  transfer: ArrayBuffer[];
}

/** Reads a message that answers a call, on the thread that it is called on. */
export async function readLargeAnswer(request: LargeAnswerRequest): Promise<LargeAnswer> {
  const { tool, maxInlineBytes, mark } = request;
  const kept: LargeAnswer["kept"] = [];
  const store: ResultStore = {
    specificationVersion: "v1",
    async write(part, mimeType, name) {
      kept.push({ bytes: part, mimeType, name });
      return { path: `${mark}${kept.length - 1}`, size: part.length };
    },
    read: () => Promise.reject(new Error("What is kept is not read here.")),
  };
  const keeping = { store: mark === undefined ? undefined : store, maxInlineBytes };
  const plain = plainAnswer(request.bytes, tool);
  const result =
    plain === undefined
      ? await readWhole(takeMessage(request), tool, keeping)
      : await readPlain(request.bytes, plain, tool, keeping);
  const { bytes } = request;
  const buffers = new Set(kept.map((part) => part.bytes.buffer as ArrayBuffer));
  // Small ones share theirs with others.
  const transfer = [...buffers].filter(
    (buffer) =>
      (buffer === bytes.buffer && bytes.length === buffer.byteLength) ||
      kept.some((part) => part.bytes.buffer === buffer && part.bytes.length === buffer.byteLength),
  );
  return { result, kept, transfer };
}

/** Reads the message as values, which are larger than its bytes: these are let go. */
function takeMessage(request: LargeAnswerRequest): JsonValue {
  const message = readJson(request.bytes, { start: 0, end: request.bytes.length }) as JsonValue;
  request.bytes = new Uint8Array();
  return message;
}

/** A place of a value in the bytes. */
type Part = Parameters<typeof readJson>[1];
type Members = ReadonlyMap<string, Part>;

function membersOf(bytes: Uint8Array, place: Pick<Part, "start"> = { start: 0 }): Members {
  return new Map(Array.from(partsOfJson(bytes, place.start), (part) => [part.name ?? "", part]));
}

/** A value that is all of an answer: JSON, or a text. */
interface PlainAnswer {
  type: "text" | "json";
  part: Part;
}

/**
 * The value of an answer that needs no other reading than its own: no error, and nothing in it that is to be kept apart.
 *
 * @returns `undefined` for any other answer.
 */
function plainAnswer(bytes: Uint8Array, { outputSchema }: ResultOrigin): PlainAnswer | undefined {
  const place = membersOf(bytes).get("result");
  if (place === undefined) return undefined;
  const answer = membersOf(bytes, place);
  const read = (part: Part | undefined): unknown => {
    const isShort = part !== undefined && part.end - part.start <= MAX_SHORT_BYTES;
    return isShort ? readJson(bytes, part) : part && "long";
  };
  const content = answer.get("content");
  const isList = content === undefined || bytes[content.start] === OPEN_LIST;
  if (!isList || (read(answer.get("isError")) ?? false) !== false) return undefined;
  const places = content === undefined ? [] : [...partsOfJson(bytes, content.start)];
  if (places.length > MAX_PARTS) return undefined;
  const parts = places.map((part) => membersOf(bytes, part));
  const texts = parts.map((part) => part.get("text"));
  if (!parts.every((part) => read(part.get("type")) === "text")) return undefined;
  if (!texts.every((text) => text !== undefined && bytes[text.start] === QUOTE)) return undefined;
  const structured = answer.get("structuredContent");
  const isLeftOut = structured === undefined || (outputSchema === undefined && read(structured) === null);
  if (!isLeftOut) {
    const isValue = bytes[structured.start] === OPEN_OBJECT || bytes[structured.start] === OPEN_LIST;
    return isValue && !mayHoldBytes(bytes, structured) ? { type: "json", part: structured } : undefined;
  }
  const [part] = texts;
  const isOne = texts.length === 1 && outputSchema === undefined;
  return isOne && part !== undefined ? { type: "text", part } : undefined;
}

/** Whether a value may have an image, a sound or a resource in it. */
function mayHoldBytes(bytes: Uint8Array, { start, end }: Part): boolean {
  const value = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  return ['"image"', '"audio"', '"resource"'].some((type) => value.includes(type));
}

async function readPlain(
  bytes: Uint8Array,
  { type, part }: PlainAnswer,
  tool: ResultOrigin,
  keeping: ResultKeeping,
): Promise<ToolResult> {
  const named = { server: tool.server, name: tool.tool, isTyped: tool.outputSchema !== undefined };
  if (type === "text") {
    const text = decodeTextInPlace(bytes, part);
    return { ok: true, value: await fitBytes(named, isStructure(text) ? "json" : "text", text, keeping) };
  }
  const json = bytes.subarray(part.start, part.end);
  if (tool.outputSchema !== undefined) {
    const structuredContent = readJson(bytes, part) as JsonValue;
    await assertPromised(tool, tool.outputSchema, { structuredContent, content: [] }, createResultCheck());
  }
  return { ok: true, value: await fitBytes(named, "json", json, keeping) };
}

/** Whether a text is a list or an object of JSON as a whole. */
function isStructure(text: Uint8Array): boolean {
  const first = text.find((byte) => byte > MAX_SPACE);
  return (first === OPEN_OBJECT || first === OPEN_LIST) && isJson(text);
}

async function readWhole(
  message: JsonValue,
  tool: ResultOrigin,
  keeping: ResultKeeping,
): Promise<ToolResult> {
  const { result, error } = isObject(message) ? message : {};
  if (isObject(result))
    return mapToolResult(tool, toRawResult(result), { ...keeping, checkResult: createResultCheck() });
  const said = isObject(error) && typeof error["message"] === "string" ? error["message"] : NO_RESULT;
  const details = { server: tool.server, tool: tool.tool };
  return {
    ok: false,
    error: { code: "TOOL_FAILED", message: copyWholeWords(said, MAX_ERROR_CHARACTERS), details },
  };
}
