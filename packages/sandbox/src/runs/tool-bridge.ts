import type { RunLimits, RunOutcome, RunRequest, ToolCallRecord, ToolInvoker, ToolResult } from "@cem/core";
import {
  abandonOnAbort,
  copyBeginning,
  copyWholeWords,
  toErrorInfo,
  toolNotFound,
  UNAWAITED_CALL,
} from "@cem/core";
import type { GuestCall, GuestMessage } from "../protocol/guest-messages.ts";
import { encodeResult, type EncodedResult } from "../protocol/host-messages.ts";

/** Characters kept of one result, and of all results of a run, for counting tokens. */
const SAMPLE_CHARACTERS = 64 * 1024;
const ALL_SAMPLES_CHARACTERS = 8 * 1024 * 1024;
/** Characters of a call's arguments and result in its record. */
const RECORD_CHARACTERS = 2 * 1024;
/** Records of later calls have neither arguments nor result. */
const MAX_DETAILED_RECORDS = 1_000;
/** Longest wait for the ends of calls when their run has ended, in milliseconds: for answers to calls that a program left. */
const LEFT_MS = 6_000;
const STOPPED_MS = 1_000;
/** Created once, since capturing a stack for each run is slow. */
const RUN_ENDED = new DOMException("The run that called this tool has ended.", "AbortError");
const UNAWAITED = new DOMException("The program ended without awaiting this call.", UNAWAITED_CALL);

export type KillReason = Extract<RunOutcome, { status: "killed" }>["reason"];

export interface ToolBridgeSettings {
  invoker: ToolInvoker | undefined;
  limits: RunLimits;
  /** Returns the time that the run has left, in milliseconds. */
  leftMs?: (() => number) | undefined;
  onToolCall: RunRequest["onToolCall"];
  /** Writes one line to the guest; calls `sent` when it has been flushed. */
  send: (line: string, sent: () => void) => void;
  /** Ends the run. */
  kill: (reason: KillReason, message: string) => void;
  /** Called when a call starts or stops waiting for a person. */
  onWaiting: (isWaiting: boolean) => void;
}

type GuestTrace = Extract<GuestMessage, { type: "trace" }>;
type PendingCall = Pick<GuestCall, "server" | "tool"> & {
  args: string;
  started: number;
  /** Absent for a call that is held back. */
  end: Promise<void> | undefined;
};

/** The host's side of a run's tool calls: passes them to the invoker, enforces the limits, keeps records. */
export function createToolBridge(settings: ToolBridgeSettings) {
  const { invoker, limits, leftMs, onToolCall, send, kill, onWaiting } = settings;
  const records: ToolCallRecord[] = [];
  const samples: RunOutcome["toolResults"] = [];
  const abort = new AbortController();
  const createdAt = performance.now();
  const seen = new Set<number>();
  const pending = new Map<number, PendingCall>();
  /** Calls held back while the guest doesn't read its results. */
  const backlog: GuestCall[] = [];
  let unsentBytes = 0;
  let sampled = 0;
  /** Whether the program has ended and the run waits for its calls. */
  let isLeft = false;

  function count(): boolean {
    if (records.length + pending.size < limits.calls) return true;
    kill("call-limit", `The program made more than ${limits.calls} tool calls.`);
    return false;
  }

  function start(call: GuestCall): void {
    const end = invoke(call).then((result) => answer(call.id, result));
    const started = pending.get(call.id);
    if (started !== undefined) started.end = end;
  }

  async function invoke({ id, server, tool, args }: GuestCall): Promise<EncodedResult> {
    const encode = (result: ToolResult) => encodeResult({ id, server, tool }, result, limits.payloadBytes);
    if (invoker === undefined) {
      return encode({ ok: false, error: toErrorInfo(toolNotFound({ server, tool }, [])) });
    }
    const waiting = trackWaiting();
    try {
      const { signal } = abort;
      const context = { signal, onWaiting: waiting.set, limits, leftMs };
      return encode(await invoker.invoke({ server, tool, args }, context));
    } catch (error) {
      return encode({ ok: false, error: toErrorInfo(error) });
    } finally {
      waiting.end();
    }
  }

  /** Tracks whether one call waits for a person. Questions may overlap; a call that has ended no longer waits. */
  function trackWaiting(): { set: (isWaiting: boolean) => void; end: () => void } {
    let questions = 0;
    let ended = false;
    const change = (next: number): void => {
      const before = questions;
      questions = Math.max(0, next);
      if ((before === 0) !== (questions === 0)) onWaiting(questions > 0);
    };
    return {
      set: (isWaiting) => ended || change(questions + (isWaiting ? 1 : -1)),
      end: () => {
        change(0);
        ended = true;
      },
    };
  }

  function answer(id: number, { line, ok, json, error }: EncodedResult): void {
    const call = pending.get(id);
    if (call === undefined) return;
    if (abort.signal.aborted && error?.code === "ABORTED")
      return cancel(id, call, error.details?.["mayBeDone"] === true);
    pending.delete(id);
    const { server, tool, args, started } = call;
    const result = ok ? copyWholeWords(json, RECORD_CHARACTERS) : undefined;
    const ms = performance.now() - started;
    const startMs = started - createdAt;
    record({ server, tool, ms, startMs, ok, args, result, error });
    if (ok) keepSample(json.length, copyBeginning(json, SAMPLE_CHARACTERS));
    if (abort.signal.aborted) return;
    const bytes = Buffer.byteLength(line);
    unsentBytes += bytes;
    send(line, () => {
      unsentBytes -= bytes;
      if (unsentBytes > limits.payloadBytes) return;
      const next = backlog.shift();
      if (next !== undefined) start(next);
    });
  }

  function cancel(id: number, { server, tool, args, started }: PendingCall, mayBeDone: boolean): void {
    pending.delete(id);
    const ms = performance.now() - started;
    const startMs = started - createdAt;
    record({
      server,
      tool,
      ms,
      startMs,
      ok: false,
      isCancelled: true,
      ...(mayBeDone && { mayBeDone }),
      args,
    });
  }

  function record({ args, result, error, ...plain }: ToolCallRecord): void {
    const detailed = records.length < MAX_DETAILED_RECORDS;
    const kept: ToolCallRecord = { ...plain, ...(isLeft && { isLate: true }) };
    if (detailed && args) kept.args = args;
    if (detailed && result) kept.result = result;
    if (detailed && error) kept.error = error;
    records.push(kept);
    onToolCall?.(kept);
  }

  function keepSample(characters: number, sample: string): void {
    const kept = copyBeginning(sample, Math.max(0, ALL_SAMPLES_CHARACTERS - sampled));
    sampled += kept.length;
    samples.push({ characters, sample: kept });
  }

  return {
    records,
    get samples(): RunOutcome["toolResults"] {
      return samples;
    },
    /** Handles a call of a tool on the host. */
    call(call: GuestCall): void {
      if (seen.has(call.id)) return kill("protocol", `The guest used the call id ${call.id} twice.`);
      if (!count()) return;
      if (pending.size >= limits.callsInFlight) {
        return kill("protocol", `The guest made more than ${limits.callsInFlight} calls at once.`);
      }
      seen.add(call.id);
      const { server, tool } = call;
      const args = copyWholeWords(JSON.stringify(call.args) ?? "", RECORD_CHARACTERS);
      pending.set(call.id, { server, tool, args, started: performance.now(), end: undefined });
      if (unsentBytes > limits.payloadBytes) backlog.push(call);
      else start(call);
    },
    /** Records a call whose tool ran in the guest. */
    trace({ server, tool, args = "", ms, ok, characters, sample }: GuestTrace): void {
      if (!count()) return;
      const startMs = Math.max(0, performance.now() - createdAt - ms);
      const result = copyWholeWords(sample, RECORD_CHARACTERS);
      record({ server, tool, ms, startMs, ok, place: "guest", args, result });
      if (ok) keepSample(characters, sample);
    },
    /** Marks the calls that end from now on as ended after the program. */
    leave: (): void => void (isLeft = true),
    /** The calls that have no answer yet. */
    get pending(): Pick<PendingCall, "server" | "tool">[] {
      return [...pending.values()];
    },
    /**
     * Aborts pending calls, and waits a bounded time for their ends. Records those without an answer as cancelled.
     *
     * @param byItself - Whether the program completed or threw, and so abandoned its calls.
     * @param enough - Ends the wait.
     */
    async end(byItself: boolean, enough: readonly AbortSignal[]): Promise<void> {
      abort.abort(byItself ? UNAWAITED : RUN_ENDED);
      backlog.length = 0;
      if (pending.size === 0) return;
      const until = AbortSignal.any([AbortSignal.timeout(byItself ? LEFT_MS : STOPPED_MS), ...enough]);
      const ends = [...pending.values()].flatMap(({ end }) => end ?? []);
      await abandonOnAbort(Promise.all(ends), until).catch(() => {});
      for (const [id, call] of pending) cancel(id, call, call.end !== undefined);
    },
  };
}
