import { fitValue, keepOnce } from "@cem/bridge";
import type { ResultCheck, ResultKeeping } from "@cem/bridge";
import { CemError, copyBeginning } from "@cem/core";
import type { ErrorInfo, FailedTool, JsonSchema, JsonValue, ToolResult } from "@cem/core";
import type { RawToolResult } from "./connection-types.ts";
import { mapPart } from "./content-parts.ts";
import { mapStructured } from "./structured-content.ts";
import { readText, textOf } from "./text-content.ts";

const MAX_ERROR_CHARACTERS = 8_000;
/** Larger structured content is left out of an error's details. In characters of JSON. */
const MAX_ERROR_CONTENT_CHARACTERS = 64 * 1024;

/** The tool that a result is of. */
export interface ResultOrigin extends FailedTool {
  /** The schema that the server promises its structured content to fit. */
  outputSchema?: JsonSchema | undefined;
}

/** How results are checked and kept. */
export interface ResultMapping extends ResultKeeping {
  /** Checks structured content against the tool's output schema. */
  checkResult: ResultCheck;
}

/**
 * Maps a tool's result to the value code receives: its structured content, or else what its parts say. A large value and
 * bytes go to the store, the same bytes once.
 *
 * @throws CemError `RESULT_INVALID` when the result is not what the tool's output schema promises; `RESULT_TOO_LARGE`.
 */
export async function mapToolResult(
  tool: ResultOrigin,
  raw: RawToolResult,
  { checkResult, ...keeping }: ResultMapping,
): Promise<ToolResult> {
  if (raw.isError) return { ok: false, error: toFailure(tool, raw) };
  if (tool.outputSchema !== undefined) await assertPromised(tool, tool.outputSchema, raw, checkResult);
  const once = keepOnce(keeping);
  const named = { server: tool.server, name: tool.tool };
  return { ok: true, value: await fitValue(named, await toValue(tool, raw, once), once) };
}

async function toValue(
  { tool, outputSchema }: ResultOrigin,
  { content, structuredContent }: RawToolResult,
  keeping: ResultKeeping,
): Promise<JsonValue> {
  const context = { name: tool, ...keeping };
  // Where no schema promises it, `null` is how some servers leave it out.
  const isLeftOut = outputSchema === undefined && structuredContent === null;
  if (structuredContent !== undefined && !isLeftOut) {
    const others = content.filter((part) => textOf(part) === undefined);
    return mapStructured(structuredContent, others, context);
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
async function assertPromised(
  tool: ResultOrigin,
  schema: JsonSchema,
  { structuredContent }: RawToolResult,
  checkResult: ResultCheck,
): Promise<void> {
  const { server, tool: name } = tool;
  if (structuredContent === undefined) {
    throw new CemError(
      "RESULT_INVALID",
      `${server}.${name} answered without structuredContent, which its own output schema promises.`,
      { details: { server, tool: name, place: "" } },
    );
  }
  try {
    await checkResult(tool, schema, structuredContent);
  } catch (error) {
    if (!CemError.isInstance(error)) throw error;
    const details = { ...error.details, structuredContent: smallOnly(structuredContent) };
    throw new CemError(error.code, error.message, { details, cause: error });
  }
}

function toFailure({ server, tool }: FailedTool, raw: RawToolResult): ErrorInfo {
  const { content, unansweredQuestion, structuredContent } = raw;
  const texts = content.map(textOf).filter((text) => text !== undefined);
  const structured = structuredContent === undefined ? "" : JSON.stringify(structuredContent);
  const said = texts.join("\n") || structured || `${server}.${tool} failed without a message.`;
  const text = said.length <= MAX_ERROR_CHARACTERS ? said : `${copyBeginning(said, MAX_ERROR_CHARACTERS)}…`;
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

/** What code may see of the result of a call that failed: it may be all that it needs. */
function smallOnly(structured: JsonValue | undefined): JsonValue | undefined {
  const isSmall = JSON.stringify(structured ?? null).length <= MAX_ERROR_CONTENT_CHARACTERS;
  return isSmall ? structured : undefined;
}
