import { forClients, resultNotJson, resultTooLarge, type ErrorInfo, type ToolResult } from "@cem/core";
import type { GuestCall } from "./guest-messages.ts";

/** The first message to a guest, sent right after its start. */
export interface InitMessage {
  type: "init";
  /** The secret that marks the guest's messages. */
  token: string;
  /** Host folder by guest folder, for guests without a file system view of their own; for others, where a folder is mounted. */
  paths?: Record<string, string> | undefined;
  /** Guest path by host path, to replace host paths in the output of a guest. */
  hostPaths?: Record<string, string> | undefined;
  /** Whether the guest has a file system view of its own. */
  hasOwnView?: boolean | undefined;
  /** Names of tools on the host that have no file, by server. */
  hostTools?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Guest folders that no program can change and that may contain modules of tools. */
  toolFolders?: readonly string[] | undefined;
  /** Guest paths of files that can't be imported. */
  hidden?: readonly string[] | undefined;
  /** Whether the kernel refuses listening and making links, in every thread. Otherwise threads and WASI are withheld. */
  hasFilter?: boolean | undefined;
  /** Whether the guest serves more than one run. @defaultValue false */
  reuse?: boolean | undefined;
}

/** Health check of an idle guest: it answers `ready`, or exits. With `rest`, it releases memory and does not answer. */
export interface PingMessage {
  type: "ping" | "rest";
}

export interface RunMessage {
  type: "run";
  source: string;
  callsInFlight: number;
  payloadBytes: number;
  /** Source texts that replace the files of modules, by URL. */
  modules?: Readonly<Record<string, string>> | undefined;
}

/** Encodes one message as the line to write to a guest's stdin. */
export function encodeHostMessage(message: InitMessage | PingMessage | RunMessage): string {
  return `${JSON.stringify(message)}\n`;
}

/** A tool's result as the line to write to a guest's stdin. */
export interface EncodedResult {
  line: string;
  ok: boolean;
  /** The value as JSON; empty when the call failed. */
  json: string;
  error?: ErrorInfo | undefined;
}

/** The beginning of every result handle's path in JSON. Without it, the guest need not search the result. */
const HANDLE_MARK = '"/workspace/results/';

/** Encodes a tool's result as the line to write to a guest's stdin. One that is too large or not JSON becomes an error. */
export function encodeResult(
  call: Pick<GuestCall, "id" | "server" | "tool">,
  result: ToolResult,
  payloadBytes: number,
): EncodedResult {
  const { id } = call;
  if (!result.ok) return failure(id, result.error, payloadBytes);
  let json: string;
  try {
    json = JSON.stringify(result.value) ?? "null";
  } catch (error) {
    return failure(id, resultNotJson(call, error), payloadBytes);
  }
  const bytes = Buffer.byteLength(json);
  if (bytes > payloadBytes) return failure(id, resultTooLarge(call, bytes, payloadBytes), payloadBytes);
  const handles = json.includes(HANDLE_MARK) ? ',"handles":true' : "";
  return { line: `{"type":"result","id":${id},"ok":true${handles},"value":${json}}\n`, ok: true, json };
}

function failure(id: number, error: ErrorInfo, payloadBytes: number): EncodedResult {
  const { code, message, details } = forClients(error);
  return { line: errorLine(id, code, message, details, payloadBytes), ok: false, json: "", error };
}

/** Details that can't be encoded as JSON are dropped; a message beyond the limit is cut. */
function errorLine(id: number, code: string, message: string, details: unknown, limit: number): string {
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
