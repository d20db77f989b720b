import type { ErrorInfo, JsonValue, ToolResult } from "@cem/core";

/** The first message to a guest. */
export interface InitMessage {
  type: "init";
  /** The secret that the guest's frames have to carry. */
  token: string;
  /** Guest folders and where they really are, for guests that have no view of their own. */
  paths?: Record<string, string> | undefined;
  /** The guest may have more than one run. Default false. */
  reuse?: boolean | undefined;
}

/** Asks a guest that has no run whether it is ready for one. It says so, or ends itself. */
export interface PingMessage {
  type: "ping";
}

/** Starts a run. */
export interface RunMessage {
  type: "run";
  source: string;
  calls: number;
  callsInFlight: number;
  payloadBytes: number;
}

/** One message as the line that goes to the guest. */
export function encodeHostMessage(message: InitMessage | PingMessage | RunMessage): string {
  return `${JSON.stringify(message)}\n`;
}

export interface EncodedResult {
  line: string;
  ok: boolean;
  /** The value as JSON, where the call succeeded. */
  json: string;
  /** Why the tool failed. */
  error?: ErrorInfo | undefined;
}

/** How the path of every handle begins, in JSON. A result without it holds none, and the guest need not look. */
const HANDLE_MARK = '"/workspace/results/';
const TOO_LARGE = "RESULT_TOO_LARGE";
const NOT_JSON = "RESULT_NOT_JSON";

/** A tool's result as the line that goes to the guest. A result that can't go becomes an error that says why. */
export function encodeResult(id: number, result: ToolResult, payloadBytes: number): EncodedResult {
  if (!result.ok) {
    const { error } = result;
    const line = errorLine(id, error.code, error.message, error.details as JsonValue, payloadBytes);
    return { line, ok: false, json: "", error };
  }
  let json: string;
  try {
    json = JSON.stringify(result.value) ?? "null";
  } catch {
    return { line: errorLine(id, NOT_JSON, "The tool's result can't be JSON."), ok: false, json: "" };
  }
  const bytes = Buffer.byteLength(json);
  if (bytes > payloadBytes) {
    const message = `The tool's result has ${bytes} bytes; the most that may come back at once is ${payloadBytes}. Ask the tool for less.`;
    return { line: errorLine(id, TOO_LARGE, message), ok: false, json: "" };
  }
  const handles = json.includes(HANDLE_MARK) ? ',"handles":true' : "";
  return { line: `{"type":"result","id":${id},"ok":true${handles},"value":${json}}\n`, ok: true, json };
}

function errorLine(id: number, code: string, message: string, details?: JsonValue, limit = 65_536): string {
  let line: string;
  try {
    line = JSON.stringify({ type: "result", id, ok: false, error: { code, message, details } });
  } catch {
    line = JSON.stringify({ type: "result", id, ok: false, error: { code, message } });
  }
  if (Buffer.byteLength(line) <= limit + 1_024) return `${line}\n`;
  const short = { code, message: message.slice(0, 1_024) };
  return `${JSON.stringify({ type: "result", id, ok: false, error: short })}\n`;
}
