import { fitValue, keepOnce, type ResultCheck, type ResultKeeping } from "@cem/bridge";
import { CemError, copyWholeWords, isObject, showWholeWords } from "@cem/core";
import type { ErrorInfo, FailedTool, JsonObject, JsonSchema, JsonValue, ToolResult } from "@cem/core";
import type { RawToolResult } from "../connection/connection-types.ts";
import { bytesOf, exactContent, mapPart, readText, textOf, type PartContext } from "./content-parts.ts";

const MAX_ERROR_CHARACTERS = 8_000;
/** Larger structured content is left out of an error's details. In characters of JSON. */
const MAX_ERROR_CONTENT_CHARACTERS = 64 * 1024;

/** Limit for showing a result that violates its schema. In characters. */
const MAX_SHOWN_CHARACTERS = 200;

/** The tool that a result is of. */
export interface ResultOrigin extends FailedTool {
  /** The schema that the server declares for its structured content. */
  outputSchema?: JsonSchema | undefined;
}

/**
 * Maps a tool's result to the value code receives: its structured content, or else the content of its parts. A large value
 * and bytes go to the store, equal bytes once.
 *
 * @param mapping - `checkResult` checks structured content against the tool's output schema.
 * @throws CemError `RESULT_INVALID` if the result violates the tool's output schema; `RESULT_TOO_LARGE`.
 */
export async function mapToolResult(
  tool: ResultOrigin,
  raw: RawToolResult,
  { checkResult, ...keeping }: ResultKeeping & { checkResult: ResultCheck },
): Promise<ToolResult> {
  if (raw.isError) return { ok: false, error: toFailure(tool, raw) };
  if (tool.outputSchema !== undefined) await assertPromised(tool, tool.outputSchema, raw, checkResult);
  const once = keepOnce(keeping);
  const named = { server: tool.server, name: tool.tool, isTyped: tool.outputSchema !== undefined };
  const exact = await withAllDigits(tool, raw, checkResult);
  return { ok: true, value: await fitValue(named, await toValue(tool, exact, once), once) };
}

/** Returns long integers as texts, as in a text-only result, if the schema of the structured content allows it. */
async function withAllDigits(
  tool: ResultOrigin,
  raw: RawToolResult,
  checkResult: ResultCheck,
): Promise<RawToolResult> {
  const structuredContent = exactContent(raw);
  if (structuredContent === undefined) return raw;
  const checked = tool.outputSchema && checkResult(tool, tool.outputSchema, structuredContent);
  return Promise.resolve(checked).then(
    () => ({ ...raw, structuredContent }),
    () => raw,
  );
}

async function toValue(
  { tool, outputSchema }: ResultOrigin,
  { content, structuredContent }: RawToolResult,
  keeping: ResultKeeping,
): Promise<JsonValue> {
  const context = { name: tool, ...keeping };
  // Without a schema, some servers send `null` for no structured content.
  const isLeftOut = outputSchema === undefined && structuredContent === null;
  if (structuredContent !== undefined && !isLeftOut) {
    const others = content.filter((part) => textOf(part) === undefined);
    return await mapStructured(structuredContent, others, context);
  }
  const values = await Promise.all(
    content.map(async (part) => {
      const text = textOf(part);
      return text === undefined ? mapPart(part, context) : readText(text);
    }),
  );
  if (values.length <= 1) return values[0] ?? null;
  return values.every((value) => typeof value === "string") ? values.join("\n") : values;
}

/** @throws CemError `RESULT_INVALID`, with the structured content in its details. */
export async function assertPromised(
  tool: ResultOrigin,
  schema: JsonSchema,
  { structuredContent, content }: Pick<RawToolResult, "structuredContent" | "content">,
  checkResult: ResultCheck,
): Promise<void> {
  const { server, tool: name } = tool;
  if (structuredContent === undefined) {
    const message = `${server}.${name} answered without structuredContent, which its own output schema promises.${cameAs(content)}`;
    throw new CemError("RESULT_INVALID", message, { details: { server, tool: name, place: "" } });
  }
  try {
    await checkResult(tool, schema, structuredContent);
  } catch (error) {
    if (!CemError.isInstance(error)) throw error;
    const details = { ...error.details, structuredContent: smallOnly(structuredContent) };
    const message = `${error.message}${cameAs(structuredContent)}`;
    throw new CemError(error.code, message, { details, cause: error });
  }
}

/** The beginning of the actual result, as a sentence, so that code can be written for it. */
function cameAs(value: JsonValue): string {
  const json = JSON.stringify(value);
  return json === "[]" ? "" : ` It came as ${showWholeWords(json, MAX_SHOWN_CHARACTERS)}.`;
}

function toFailure({ server, tool }: FailedTool, raw: RawToolResult): ErrorInfo {
  const { content, unansweredQuestion, structuredContent } = raw;
  const texts = content.map(textOf).filter((text) => text !== undefined);
  const structured = structuredContent === undefined ? "" : JSON.stringify(structuredContent);
  const said = texts.join("\n") || structured || `${server}.${tool} failed without a message.`;
  const text = said.length <= MAX_ERROR_CHARACTERS ? said : `${copyWholeWords(said, MAX_ERROR_CHARACTERS)}…`;
  const note =
    unansweredQuestion === undefined
      ? ""
      : `\n(The server asked "${unansweredQuestion.message}". ${unansweredQuestion.reason})`;
  return {
    code: "TOOL_FAILED",
    message: text + note,
    details: { server, tool, structuredContent: smallOnly(structuredContent) },
  };
}

/** The structured content of a failed call for the error's details, if it is small. */
function smallOnly(structured: JsonValue | undefined): JsonValue | undefined {
  const isSmall = JSON.stringify(structured ?? null).length <= MAX_ERROR_CONTENT_CHARACTERS;
  return isSmall ? structured : undefined;
}

/** The key of content parts that are neither text nor inside the structured content. */
const ATTACHMENTS_KEY = "_attachments";
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
const DATA_URL = /^data:[^,]{0,200};base64,/;

/** A position of bytes inside a value, and their content part. */
interface Place {
  holder: JsonObject | JsonValue[];
  key: string | number;
  part: JsonValue;
}

/**
 * Maps structured content to the value code receives. Bytes inside it become handles: an image, audio or resource in the
 * form of a content part, and base64 that also came as a content part. Parts that are not inside it are added under
 * `_attachments` if it is an object.
 *
 * @param structured - The value that the server sent. It is modified in place.
 * @param parts - The content parts that are not text.
 */
async function mapStructured(
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
  if (parts.length === 0) return root.value;
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

/** The value that is equal in all handles of the same bytes. */
function identityOf(handle: JsonValue): JsonValue | undefined {
  return isObject(handle) ? (handle["path"] ?? handle["data"]) : undefined;
}
