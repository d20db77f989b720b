import { isObject, type JsonObject, type JsonValue, type ToolProgress } from "@cem/core";
import { ProtocolError, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";

/** The first id of these requests. The SDK's ids start at 0. */
const FIRST_ID = 2 ** 30;

interface DirectOptions {
  /** Cancels the request, also at the server. */
  signal: AbortSignal;
  onProgress: (progress: ToolProgress) => void;
}

/** A request without an answer yet. */
interface Pending extends Pick<DirectOptions, "onProgress"> {
  resolve: (result: JsonObject) => void;
  reject: (error: Error) => void;
}

/** Requests that bypass the SDK. */
export type DirectRequests = ReturnType<typeof createDirectRequests>;

/**
 * Sends requests without the SDK, which takes several times as long. The SDK handles the handshake and all other messages.
 * Only for protocols before 2026-07-28, in which results can't ask for input.
 *
 * @param write - Throws if the connection is lost.
 */
export function createDirectRequests(write: (message: object) => void) {
  const pending = new Map<JsonValue | undefined, Pending>();
  let nextId = FIRST_ID;

  return {
    /** @throws what the SDK's client throws: `ProtocolError` for an error of the server, else `SdkError`. */
    request: async (method: string, params: { _meta?: object }, { signal, onProgress }: DirectOptions) => {
      if (signal.aborted) throw new SdkError(SdkErrorCode.RequestTimeout, String(signal.reason));
      const id = nextId;
      nextId += 1;
      const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
      const cancel = (): void => {
        const reason = String(signal.reason);
        reject(new SdkError(SdkErrorCode.RequestTimeout, reason));
        try {
          write({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } });
        } catch {
          // A server that has ended needs no cancellation.
        }
      };
      signal.addEventListener("abort", cancel, { once: true });
      pending.set(id, { resolve, reject, onProgress });
      try {
        const meta = { ...params["_meta"], progressToken: id };
        write({ jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } });
        return await promise;
      } finally {
        pending.delete(id);
        signal.removeEventListener("abort", cancel);
      }
    },
    /** Whether a message is for one of these requests. */
    concerns: (message: JsonValue) => pending.size > 0 && pending.has(subjectOf(message)),
    /** Handles such a message. */
    take(message: JsonValue) {
      const request = pending.get(subjectOf(message));
      const { params, result, error } = message as JsonObject;
      if ("method" in (message as object)) request?.onProgress(progressOf(params as JsonObject));
      else if (isObject(result) && error === undefined) request?.resolve(result);
      else if (result === undefined && isRpcError(error)) {
        const { code, message: text, data } = error;
        request?.reject(ProtocolError.fromError(code as number, text as string, data));
      } else request?.reject(new SdkError(SdkErrorCode.InvalidResult, "it is neither a result nor an error"));
    },
    /** Fails all pending requests. */
    close() {
      const lost = new SdkError(SdkErrorCode.ConnectionClosed, "Connection closed");
      for (const { reject } of pending.values()) reject(lost);
    },
  };
}

/** The id of the request that a message answers or reports progress of. */
function subjectOf(message: JsonValue): JsonValue | undefined {
  if (!isObject(message) || message["jsonrpc"] !== "2.0") return undefined;
  const { id, method, params } = message;
  if (method === undefined) return id;
  if (method !== "notifications/progress" || id !== undefined || !isObject(params)) return undefined;
  return typeof params["progress"] === "number" ? params["progressToken"] : undefined;
}

function isRpcError(error: JsonValue | undefined): error is JsonObject {
  return isObject(error) && Number.isSafeInteger(error["code"]) && typeof error["message"] === "string";
}

function progressOf({ progress, total, message }: JsonObject): ToolProgress {
  return {
    progress: progress as number,
    ...(typeof total === "number" && { total }),
    ...(typeof message === "string" && { message }),
  };
}
