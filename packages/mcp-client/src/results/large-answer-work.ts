import { copyWholeWords, decodeTextInPlace, isJson, isObject, partsOfJson, readJson } from "@cem/core";
import type { JsonValue, ResultStore, ToolResult } from "@cem/core";
import { createResultCheck, fitBytes, type ResultKeeping } from "@cem/bridge";
import { toRawResult } from "../connection/raw-result.ts";
import { assertPromised, mapToolResult, type ResultOrigin } from "./result-mapping.ts";

const MAX_ERROR_CHARACTERS = 8_000;
const NO_RESULT = "The answer is not a result.";
/** Larger members of an answer are not parsed when deciding how to read it. */
const MAX_SHORT_BYTES = 256;
/** Inspecting more parts takes longer than parsing the answer. */
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
  /** Prefix of placeholder paths for data that is to be stored. Absent: there is no store. */
  mark: string | undefined;
}

/** A large answer that was read. */
export interface LargeAnswer {
  /** The small result, with placeholder paths. */
  result: ToolResult;
  /** The data to store, indexed by the number after the mark. */
  kept: { bytes: Uint8Array; mimeType: string; name: string }[];
  transfer: ArrayBuffer[];
}

/** Parses a message that answers a call, on the calling thread. */
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
  // Small arrays share their buffers with others.
  const transfer = [...buffers].filter(
    (buffer) =>
      (buffer === bytes.buffer && bytes.length === buffer.byteLength) ||
      kept.some((part) => part.bytes.buffer === buffer && part.bytes.length === buffer.byteLength),
  );
  return { result, kept, transfer };
}

/** Parses the message and releases its bytes, since the values take more memory. */
function takeMessage(request: LargeAnswerRequest): JsonValue {
  const message = readJson(request.bytes, { start: 0, end: request.bytes.length }) as JsonValue;
  request.bytes = new Uint8Array();
  return message;
}

/** The position of a value in the bytes. */
type Part = Parameters<typeof readJson>[1];
type Members = ReadonlyMap<string, Part>;

function membersOf(bytes: Uint8Array, place: Pick<Part, "start"> = { start: 0 }): Members {
  return new Map(Array.from(partsOfJson(bytes, place.start), (part) => [part.name ?? "", part]));
}

/** A value that is the whole answer: JSON, or a text. */
interface PlainAnswer {
  type: "text" | "json";
  part: Part;
}

/**
 * The value of an answer that needs no mapping: it is no error and contains nothing to be stored separately.
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

/** Whether a value may contain an image, audio or a resource. */
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

/** Whether a text as a whole is a JSON array or object. */
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
