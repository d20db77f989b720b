import { randomUUID } from "node:crypto";
import { CemError, isObject, moduleBeside, offload } from "@cem/core";
import type { JsonValue, ToolResult } from "@cem/core";
import type { ResultKeeping } from "@cem/bridge";
import type { UnreadAnswer } from "../transport/large-answers.ts";
import type { LargeAnswer, LargeAnswerRequest } from "./large-answer-work.ts";
import type { ResultOrigin } from "./result-mapping.ts";

const READ_TIMEOUT_MS = 60_000;

/**
 * Reads a large answer apart from the thread that serves others, as far as the process has threads for that. What is large in
 * it goes to the store.
 *
 * @throws CemError as the mapping of any result; `RESULT_TOO_LARGE` where it takes too long, or too much memory.
 */
export async function mapLargeAnswer(
  tool: ResultOrigin,
  { bytes, release }: UnreadAnswer,
  { store, maxInlineBytes }: ResultKeeping,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { length } = bytes;
  const mark = store && `${randomUUID()}/`;
  const request: LargeAnswerRequest = { bytes, tool, maxInlineBytes, mark };
  const buffer = bytes.buffer as ArrayBuffer;
  const transfer = buffer.byteLength === length ? [buffer] : [];
  const module = moduleBeside("large-answer-work", import.meta.url);
  try {
    const { result, kept } = await offload<LargeAnswer>(
      () => ({
        module,
        name: "readLargeAnswer",
        args: [request],
        transfer,
        timeoutMs: READ_TIMEOUT_MS,
        signal,
      }),
      async () => (await import("./large-answer-work.ts")).readLargeAnswer(request),
    );
    if (store === undefined || mark === undefined) return result;
    const places: { path: string; size: number }[] = [];
    for (const part of kept) places.push(await store.write(part.bytes, part.mimeType, part.name));
    return placed(result as unknown as JsonValue, mark, places) as unknown as ToolResult;
  } catch (error) {
    if (!CemError.isInstance(error) || error.code !== "INPUT_TOO_LARGE") throw error;
    const { server, tool: name } = tool;
    throw new CemError(
      "RESULT_TOO_LARGE",
      `${server}.${name} answered with ${length} bytes, which took too long or too much memory to read. Ask the tool for less.`,
      { details: { server, tool: name, bytes: length }, cause: error },
    );
  } finally {
    release();
  }
}

/** The value with the places where its parts are kept. */
function placed(
  value: JsonValue,
  mark: string,
  places: readonly { path: string; size: number }[],
): JsonValue {
  if (Array.isArray(value)) return value.map((one) => placed(one, mark, places));
  if (!isObject(value)) return value;
  const { path } = value;
  const place =
    typeof path === "string" && path.startsWith(mark) ? places[Number(path.slice(mark.length))] : undefined;
  const members = Object.entries(value).map(([name, member]) => [name, placed(member, mark, places)]);
  return { ...(Object.fromEntries(members) as object), ...place };
}
