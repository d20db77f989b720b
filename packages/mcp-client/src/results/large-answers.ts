import { randomUUID } from "node:crypto";
import { CemError, isObject, moduleBeside, offload, type JsonValue, type ToolResult } from "@cem/core";
import type { ResultKeeping } from "@cem/bridge";
import type { UnreadAnswer } from "../transport/large-answers.ts";
import type { LargeAnswer, LargeAnswerRequest } from "./large-answer-work.ts";
import type { ResultOrigin } from "./result-mapping.ts";

const READ_TIMEOUT_MS = 60_000;

/**
 * Parses a large answer outside the main thread, if the process has work threads. Its large parts go to the store.
 *
 * @throws CemError as the mapping of any result; `RESULT_TOO_LARGE` if it takes too long or too much memory.
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
  const name = "readLargeAnswer";
  const work = { module, name, args: [request], transfer, timeoutMs: READ_TIMEOUT_MS, signal };
  try {
    const { result, kept } = await offload<LargeAnswer>(
      () => work,
      async () => (await import("./large-answer-work.ts")).readLargeAnswer(request),
    );
    if (store === undefined || mark === undefined) return result;
    const places: Place[] = [];
    for (const part of kept)
      places.push(await store.write(withPaths(part.bytes, mark, places), part.mimeType, part.name));
    return placed(result as unknown as JsonValue, mark, places) as unknown as ToolResult;
  } catch (error) {
    if (!CemError.isInstance(error) || error.code !== "INPUT_TOO_LARGE") throw error;
    const details = { server: tool.server, tool: tool.tool, bytes: length };
    const message = `${tool.server}.${tool.tool} answered with ${length} bytes, which took too long or too much memory to read. Ask the tool for less.`;
    throw new CemError("RESULT_TOO_LARGE", message, { details, cause: error });
  } finally {
    release();
  }
}

interface Place {
  path: string;
  size: number;
}

/** Replaces placeholders in the bytes by the paths of parts that were stored before. */
function withPaths(part: Uint8Array, mark: string, places: readonly Place[]): Uint8Array {
  const bytes = Buffer.from(part.buffer, part.byteOffset, part.length);
  return bytes.includes(mark) ? Buffer.from(pathsIn(bytes.toString("utf8"), mark, places)) : part;
}

function pathsIn(text: string, mark: string, places: readonly Place[]): string {
  const [before = "", ...marked] = text.split(mark);
  return marked.reduce((done, rest) => {
    const [digits = ""] = /^\d*/.exec(rest) ?? [];
    return done + (places[Number(digits)]?.path ?? mark) + rest.slice(digits.length);
  }, before);
}

/** Replaces placeholders in a value by the paths of its stored parts. */
function placed(value: JsonValue, mark: string, places: readonly Place[]): JsonValue {
  if (typeof value === "string") return pathsIn(value, mark, places);
  if (Array.isArray(value)) return value.map((one) => placed(one, mark, places));
  if (!isObject(value)) return value;
  const { path } = value;
  const place =
    typeof path === "string" && path.startsWith(mark) ? places[Number(path.slice(mark.length))] : undefined;
  const members = Object.entries(value).map(([name, member]) => [name, placed(member, mark, places)]);
  return { ...(Object.fromEntries(members) as object), ...place };
}
