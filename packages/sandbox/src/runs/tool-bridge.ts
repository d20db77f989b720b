import type {
  JsonValue,
  RunLimits,
  RunOutcome,
  RunRequest,
  ToolCallRecord,
  ToolInvoker,
  ToolResult,
} from "@cem/core";
import { copyBeginning, copyWholeWords, toErrorInfo, toolNotFound, UNAWAITED_CALL } from "@cem/core";
import type { GuestTrace } from "../protocol/guest-messages.ts";
import { encodeResult, type EncodedResult } from "../protocol/host-messages.ts";
import type { KillReason } from "./run-report.ts";

/** Characters kept of one result, and of all results of a run, for counting tokens. */
const SAMPLE_CHARACTERS = 64 * 1024;
const ALL_SAMPLES_CHARACTERS = 8 * 1024 * 1024;
/** Characters of a call's arguments and result in its record. */
const RECORD_CHARACTERS = 2 * 1024;
/** Records of later calls have neither arguments nor result. */
const MAX_DETAILED_RECORDS = 1_000;
/** Created once, since capturing a stack for each run is slow. */
const RUN_ENDED = new DOMException("The run that called this tool has ended.", "AbortError");
const UNAWAITED = new DOMException("The program ended without awaiting this call.", UNAWAITED_CALL);

export interface ToolBridgeSettings {
  invoker: ToolInvoker | undefined;
  limits: RunLimits;
  /** Tells the time that is left of the run, in milliseconds. */
  leftMs?: (() => number) | undefined;
  onToolCall: RunRequest["onToolCall"];
  /** Writes one line to the guest; calls `sent` when it has been flushed. */
  send: (line: string, sent: () => void) => void;
  /** Ends the run. */
  kill: (reason: KillReason, message: string) => void;
  /** Called when a call starts or stops waiting for a person. */
  onWaiting: (isWaiting: boolean) => void;
}

interface GuestCall {
  id: number;
  server: string;
  tool: string;
  args: JsonValue;
}

interface PendingCall {
  server: string;
  tool: string;
  args: string;
  started: number;
}

/** The host's side of a run's tool calls: passes them to the invoker, enforces the limits, keeps records. */
export class ToolBridge {
  readonly records: ToolCallRecord[] = [];
  readonly samples: RunOutcome["toolResults"] = [];
  readonly #settings: ToolBridgeSettings;
  readonly #abort = new AbortController();
  readonly #createdAt = performance.now();
  readonly #seen = new Set<number>();
  readonly #pending = new Map<number, PendingCall>();
  /** Calls held back while the guest doesn't read its results. */
  readonly #backlog: GuestCall[] = [];
  #unsentBytes = 0;
  #sampled = 0;

  constructor(settings: ToolBridgeSettings) {
    this.#settings = settings;
  }

  /** Handles a call of a tool on the host. */
  call(call: GuestCall): void {
    const { limits, kill } = this.#settings;
    if (this.#seen.has(call.id)) return kill("protocol", `The guest used the call id ${call.id} twice.`);
    if (!this.#count()) return;
    if (this.#pending.size >= limits.callsInFlight) {
      return kill("protocol", `The guest made more than ${limits.callsInFlight} calls at once.`);
    }
    this.#seen.add(call.id);
    const { server, tool } = call;
    const args = copyWholeWords(JSON.stringify(call.args) ?? "", RECORD_CHARACTERS);
    this.#pending.set(call.id, { server, tool, args, started: performance.now() });
    if (this.#unsentBytes > limits.payloadBytes) this.#backlog.push(call);
    else this.#start(call);
  }

  /** Records a call whose tool ran in the guest. */
  trace({ server, tool, args = "", ms, ok, characters, sample }: GuestTrace): void {
    if (!this.#count()) return;
    const startMs = Math.max(0, performance.now() - this.#createdAt - ms);
    const result = copyWholeWords(sample, RECORD_CHARACTERS);
    this.#record({ server, tool, ms, startMs, ok, place: "guest", args, result });
    if (ok) this.#sample(characters, sample);
  }

  /** The calls that have no answer yet. */
  get pending(): Pick<PendingCall, "server" | "tool">[] {
    return [...this.#pending.values()];
  }

  /**
   * Aborts pending calls and records them as cancelled.
   *
   * @param byItself - Whether the program completed or threw, and so left its calls.
   */
  end(byItself: boolean): void {
    this.#abort.abort(byItself ? UNAWAITED : RUN_ENDED);
    for (const { server, tool, args, started } of this.#pending.values()) {
      const ms = performance.now() - started;
      const startMs = started - this.#createdAt;
      this.#record({ server, tool, ms, startMs, ok: false, isCancelled: true, args });
    }
    this.#pending.clear();
    this.#backlog.length = 0;
  }

  #count(): boolean {
    const { limits, kill } = this.#settings;
    if (this.records.length + this.#pending.size < limits.calls) return true;
    kill("call-limit", `The program made more than ${limits.calls} tool calls.`);
    return false;
  }

  #start(call: GuestCall): void {
    void this.#invoke(call).then((result) => this.#answer(call.id, result));
  }

  async #invoke({ id, server, tool, args }: GuestCall): Promise<EncodedResult> {
    const { invoker, limits, leftMs } = this.#settings;
    const encode = (result: ToolResult) => encodeResult({ id, server, tool }, result, limits.payloadBytes);
    if (invoker === undefined) {
      return encode({ ok: false, error: toErrorInfo(toolNotFound({ server, tool }, [])) });
    }
    const waiting = this.#waiting();
    try {
      const { signal } = this.#abort;
      const context = { signal, onWaiting: waiting.set, limits, leftMs };
      return encode(await invoker.invoke({ server, tool, args }, context));
    } catch (error) {
      return encode({ ok: false, error: toErrorInfo(error) });
    } finally {
      waiting.end();
    }
  }

  /** Tracks whether one call waits for a person. Questions may overlap; a call that has ended no longer waits. */
  #waiting(): { set: (isWaiting: boolean) => void; end: () => void } {
    const { onWaiting } = this.#settings;
    let questions = 0;
    let ended = false;
    const change = (count: number): void => {
      const before = questions;
      questions = Math.max(0, count);
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

  #answer(id: number, { line, ok, json, error }: EncodedResult): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    const { server, tool, args, started } = pending;
    const result = ok ? copyWholeWords(json, RECORD_CHARACTERS) : undefined;
    const ms = performance.now() - started;
    const startMs = started - this.#createdAt;
    this.#record({ server, tool, ms, startMs, ok, args, result, error });
    if (ok) this.#sample(json.length, copyBeginning(json, SAMPLE_CHARACTERS));
    const bytes = Buffer.byteLength(line);
    this.#unsentBytes += bytes;
    this.#settings.send(line, () => {
      this.#unsentBytes -= bytes;
      if (this.#unsentBytes > this.#settings.limits.payloadBytes) return;
      const next = this.#backlog.shift();
      if (next !== undefined) this.#start(next);
    });
  }

  #record({ args, result, error, ...plain }: ToolCallRecord): void {
    const detailed = this.records.length < MAX_DETAILED_RECORDS;
    const record: ToolCallRecord = { ...plain };
    if (detailed && args) record.args = args;
    if (detailed && result) record.result = result;
    if (detailed && error) record.error = error;
    this.records.push(record);
    this.#settings.onToolCall?.(record);
  }

  #sample(characters: number, sample: string): void {
    const room = ALL_SAMPLES_CHARACTERS - this.#sampled;
    const kept = copyBeginning(sample, Math.max(0, room));
    this.#sampled += kept.length;
    this.samples.push({ characters, sample: kept });
  }
}
