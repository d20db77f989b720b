import { isObject, type JsonValue } from "@cem/core";
import { SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { takeUnread } from "../transport/large-answers.ts";
import type { RawToolResult } from "./connection-types.ts";

/** Reads the result of `tools/call`. @throws SdkError for anything else. */
export function toRawResult(result: Record<string, unknown>): RawToolResult {
  const { content = [], structuredContent, isError = false } = result;
  const unread = takeUnread(result);
  if (isObject(result["task"]) && !("content" in result) && structuredContent === undefined)
    throw new SdkError(SdkErrorCode.InvalidResult, "it is a task, which was not asked for");
  if (!Array.isArray(content) || typeof isError !== "boolean") {
    const wrong = Array.isArray(content) ? "isError is neither true nor false" : "content is not a list";
    throw new SdkError(SdkErrorCode.InvalidResult, `Invalid result for tools/call: ${wrong}`);
  }
  return {
    content: content as JsonValue[],
    structuredContent: structuredContent as JsonValue | undefined,
    isError,
    ...(unread && { unread }),
  };
}
