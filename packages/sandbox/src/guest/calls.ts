import { send } from "./channel.ts";
import { encodeJson, TooLargeError } from "./json-value.ts";
import { reviveHandles } from "./result-handles.ts";
import { create, PromiseConstructor, quote, sliceText, toText } from "./primordials.ts";

type Settle = (result: CallResult) => void;

interface CallState {
  inFlightLimit: number;
  callLimit: number;
  payloadLimit: number;
  calls: number;
  inFlight: number;
  nextId: number;
  /** JSON of queued calls, between `first` and `end`. */
  queue: Record<number, string>;
  queueFirst: number;
  queueEnd: number;
  waiting: Record<number, Settle>;
}

const state: CallState = {
  inFlightLimit: 1,
  callLimit: 0,
  payloadLimit: 0,
  calls: 0,
  inFlight: 0,
  nextId: 1,
  queue: create(null) as Record<number, string>,
  queueFirst: 0,
  queueEnd: 0,
  waiting: create(null) as Record<number, Settle>,
};

/** Error of a tool on the host. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  /** Stable error code: `TOOL_NOT_FOUND`. */
  readonly code: string;
  readonly details: unknown;

  constructor(message: string, code: string, details?: unknown) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

export function setCallLimits(limits: { callsInFlight: number; calls: number; payloadBytes: number }): void {
  state.inFlightLimit = limits.callsInFlight;
  state.callLimit = limits.calls;
  state.payloadLimit = limits.payloadBytes;
  state.calls = 0;
}

/** Whether a call to the host is pending. */
export function hasPendingCalls(): boolean {
  return state.inFlight > 0;
}

/** Limit of one message to the host, in characters of JSON. */
export function payloadLimit(): number {
  return state.payloadLimit;
}

/** Tells the host that a limit was reached, which ends the run; the promise never settles. */
export function endByLimit(limit: "calls" | "payload", message: string): Promise<never> {
  send(`{"type":"limit","limit":"${limit}","message":${quote(sliceText(message, 0, 512))}}`);
  return new PromiseConstructor(() => {});
}

/** Whether another call may start. */
export function callsAreLeft(): boolean {
  return state.calls < state.callLimit;
}

/** Counts one call of a tool, wherever the tool runs. */
export function countCall(): void {
  state.calls += 1;
}

export function endByCallLimit(): Promise<never> {
  return endByLimit("calls", `The program made more than ${state.callLimit} tool calls.`);
}

let onHostCall: (server: string) => void = () => {};

/** Notifies the tracer of calls that go to the host. */
export function observeHostCalls(observer: (server: string) => void): void {
  onHostCall = observer;
}

/**
 * Calls a tool that runs on the host.
 *
 * @throws ToolError when the tool fails or doesn't exist; TypeError when the arguments aren't JSON.
 */
export async function callTool(server: string, tool: string, args: unknown = {}): Promise<unknown> {
  if (!callsAreLeft()) return endByCallLimit();
  countCall();
  onHostCall(server);
  let json: string;
  try {
    json = encodeJson(args, "The tool's argument", state.payloadLimit) ?? "null";
  } catch (error) {
    if (error instanceof TooLargeError) return endByLimit("payload", error.message);
    throw error;
  }
  const id = state.nextId;
  state.nextId += 1;
  const frame = `{"type":"call","id":${id},"server":${quote(toText(server))},"tool":${quote(toText(tool))},"args":${json}}`;
  const result = await new PromiseConstructor<CallResult>((settle) => {
    state.waiting[id] = settle;
    if (state.inFlight < state.inFlightLimit) dispatch(frame);
    else {
      state.queue[state.queueEnd] = frame;
      state.queueEnd += 1;
    }
  });
  if (result.ok) return result.handles === true ? reviveHandles(result.value, 0) : result.value;
  // Created here, where its stack contains the program's line.
  throw new ToolError(result.error.message, result.error.code, result.error.details);
}

/** A function that calls a tool on the host, for tools without a file. */
export function hostTool(server: string, tool: string): (input?: unknown) => Promise<unknown> {
  return (input = {}) => callTool(server, tool, input);
}

function dispatch(frame: string): void {
  state.inFlight += 1;
  send(frame);
}

export type CallResult =
  | { id: number; ok: true; handles?: true; value: unknown }
  | { id: number; ok: false; error: { code: string; message: string; details?: unknown } };

/** Settles a call with its result from the host and sends the next queued call. */
export function settleCall(result: CallResult): void {
  const settle = state.waiting[result.id];
  if (settle === undefined) return;
  delete state.waiting[result.id];
  state.inFlight -= 1;
  if (state.queueFirst < state.queueEnd) {
    const frame = state.queue[state.queueFirst] as string;
    delete state.queue[state.queueFirst];
    state.queueFirst += 1;
    dispatch(frame);
  }
  settle(result);
}
