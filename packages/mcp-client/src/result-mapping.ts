import { fitValue } from "@cem/bridge";
import type { ResultKeeping } from "@cem/bridge";
import { copyBeginning } from "@cem/core";
import type { JsonObject, JsonValue, ToolResult } from "@cem/core";
import type { RawToolResult } from "./connection-types.ts";
import { mapPart } from "./content-parts.ts";

const MAX_ERROR_CHARACTERS = 8_000;
/** Larger structured content is left out of an error's details. In characters of JSON. */
const MAX_ERROR_CONTENT_CHARACTERS = 64 * 1024;
/** The key of content parts that are not text, when the result has structured content. */
const ATTACHMENTS_KEY = "_attachments";

/** Maps a tool's result to the value code receives. A large value and bytes go to the store. */
export async function mapToolResult(
  tool: { server: string; name: string },
  raw: RawToolResult,
  settings: ResultKeeping,
): Promise<ToolResult> {
  if (raw.isError) return { ok: false, error: toFailure(tool, raw) };
  return { ok: true, value: await fitValue(tool, await toValue(tool, raw, settings), settings) };
}

async function toValue(
  tool: { name: string },
  raw: RawToolResult,
  settings: ResultKeeping,
): Promise<JsonValue> {
  const context = { name: tool.name, ...settings };
  const { structuredContent } = raw;
  if (structuredContent !== undefined) {
    const others = raw.content.filter((part) => textOf(part) === undefined);
    if (others.length === 0 || !isObject(structuredContent)) return structuredContent;
    const attachments = await Promise.all(others.map((part) => mapPart(part, context)));
    return { [ATTACHMENTS_KEY]: attachments, ...structuredContent };
  }
  const texts = raw.content.map(textOf);
  const parsed = texts.map((text) => (text === undefined ? undefined : parseIfJson(text)));
  const areTexts = texts.every((text, index) => text !== undefined && text === parsed[index]);
  if (texts.length > 1 && areTexts) return texts.join("\n");
  const values = await Promise.all(
    raw.content.map(async (part, index) => {
      const value = parsed[index];
      return value === undefined ? mapPart(part, context) : value;
    }),
  );
  return values.length <= 1 ? (values[0] ?? null) : values;
}

function toFailure(
  tool: { server: string; name: string },
  raw: RawToolResult,
): Extract<ToolResult, { ok: false }>["error"] {
  const texts = raw.content.map(textOf).filter((text) => text !== undefined);
  const structured = raw.structuredContent === undefined ? "" : JSON.stringify(raw.structuredContent);
  const isSmall = structured.length <= MAX_ERROR_CONTENT_CHARACTERS;
  const said = texts.join("\n") || structured || `${tool.server}.${tool.name} failed without a message.`;
  const text = said.length <= MAX_ERROR_CHARACTERS ? said : `${copyBeginning(said, MAX_ERROR_CHARACTERS)}…`;
  const question = raw.declinedQuestion;
  const note = question === undefined ? "" : `\n(The server asked "${question}", and nobody could answer.)`;
  return {
    code: "TOOL_FAILED",
    message: text + note,
    details: {
      server: tool.server,
      tool: tool.name,
      structuredContent: isSmall ? raw.structuredContent : undefined,
    },
  };
}

function textOf(part: JsonValue): string | undefined {
  if (!isObject(part) || part["type"] !== "text") return undefined;
  return typeof part["text"] === "string" ? part["text"] : undefined;
}

/**
 * Parses a text that is JSON and returns any other text unchanged. A number is parsed only when it is printed the
 * same way again: `007`, `1.0` and numbers of twenty digits stay text.
 */
function parseIfJson(text: string): JsonValue {
  const trimmed = text.trim();
  if (!/^[[{"\-0-9tfn]/.test(trimmed)) return text;
  try {
    const value = JSON.parse(trimmed) as JsonValue;
    return typeof value === "number" && String(value) !== trimmed ? text : value;
  } catch {
    return text;
  }
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
