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
  /** JSON of calls that wait for their turn, between `first` and `end`. */
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

/** A tool on the host that answered with an error. */
export class ToolError extends Error {
  override readonly name = "ToolError";
  /** Stable, for programs: `TOOL_NOT_FOUND`. */
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

/** True while the host owes an answer. */
export function hasPendingCalls(): boolean {
  return state.inFlight > 0;
}

/** The most characters of JSON that may cross the bridge at once. */
export function payloadLimit(): number {
  return state.payloadLimit;
}

/** Tells the host that a limit was reached, which ends the run; the promise never settles. */
export function endByLimit(limit: "calls" | "payload", message: string): Promise<never> {
  send(`{"type":"limit","limit":"${limit}","message":${quote(sliceText(message, 0, 512))}}`);
  return new PromiseConstructor(() => {});
}

/** False when no further call may start. */
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

/** Lets the tracer know of calls that go to the host. */
export function observeHostCalls(observer: (server: string) => void): void {
  onHostCall = observer;
}

/**
 * Calls a tool that runs on the host.
 *
 * @throws ToolError when the tool fails or isn't there. TypeError when the arguments can't be JSON.
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
  // Made here, where its stack leads back to the program's line.
  throw new ToolError(result.error.message, result.error.code, result.error.details);
}

/** A tool on the host as a function, for tools that no file stands for. */
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

/** Takes a result from the host and lets the next call go. */
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
