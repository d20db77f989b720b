import { copyBeginning, isObject } from "@cem/core";
import type { JsonValue, ResultStore, ToolResult } from "@cem/core";
import { createResultCheck } from "@cem/bridge";
import { toRawResult } from "../connection/raw-result.ts";
import { mapToolResult } from "./result-mapping.ts";
import type { ResultOrigin } from "./result-mapping.ts";

const MAX_ERROR_CHARACTERS = 8_000;

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
  const message = JSON.parse(
    Buffer.from(request.bytes.buffer, request.bytes.byteOffset, request.bytes.length).toString("utf8"),
  ) as JsonValue;
  // Larger than the text of it, as values.
  request.bytes = new Uint8Array();
  const kept: LargeAnswer["kept"] = [];
  const store: ResultStore = {
    specificationVersion: "v1",
    async write(bytes, mimeType, name) {
      kept.push({ bytes, mimeType, name });
      return { path: `${mark}${kept.length - 1}`, size: bytes.length };
    },
    read: () => Promise.reject(new Error("What is kept is not read here.")),
  };
  const { result, error } = isObject(message) ? message : {};
  const keeping = { store: mark === undefined ? undefined : store, maxInlineBytes };
  const read: ToolResult = isObject(result)
    ? await mapToolResult(tool, toRawResult(result), { ...keeping, checkResult: createResultCheck() })
    : {
        ok: false,
        error: {
          code: "TOOL_FAILED",
          message: messageOf(error),
          details: { server: tool.server, tool: tool.tool },
        },
      };
  const buffers = new Set(kept.map(({ bytes }) => bytes.buffer as ArrayBuffer));
  // Small ones share theirs with others.
  const transfer = [...buffers].filter((buffer) =>
    kept.some(({ bytes }) => bytes.buffer === buffer && bytes.length === buffer.byteLength),
  );
  return { result: read, kept, transfer };
}

function messageOf(error: JsonValue | undefined): string {
  const message = isObject(error) ? error["message"] : undefined;
  return copyBeginning(
    typeof message === "string" ? message : "The answer is no result.",
    MAX_ERROR_CHARACTERS,
  );
}
