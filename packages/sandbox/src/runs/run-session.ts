import { setImmediate as nextTurn } from "node:timers/promises";
import { RunClock } from "@cem/core";
import type {
  Isolation,
  RunLimits,
  RunOutcome,
  RunReport,
  RunRequest,
  RunStop,
  RunTicket,
  UnawaitedWork,
} from "@cem/core";
import type { ConnectedGuest, GuestListener } from "../guests/connected-guest.ts";
import type { GuestExit } from "../guests/guest.ts";
import { explainExit, isAllocationFailure } from "../guests/guest-exit.ts";
import type { GuestMessage } from "../protocol/guest-messages.ts";
import { lineOf, mapGuestError } from "../protocol/guest-stack.ts";
import { encodeHostMessage } from "../protocol/host-messages.ts";
import { RunOutput } from "./run-output.ts";
import { ToolBridge } from "./tool-bridge.ts";
import type { WorkspaceQuota } from "../workspace/workspace-quota.ts";
import type { KillReason } from "./run-report.ts";

const USAGE_POLL_MS = 25;
const BYTES_PER_MIB = 1024 * 1024;
/** Space in a frame besides the payload, for names and a sample of a tool's result. */
const FRAME_OVERHEAD_BYTES = 512 * 1024;
/** Size of a message without its payload. */
const MESSAGE_OVERHEAD_BYTES = 1_024;

/** Added to the program's output for each message on stderr, so that empty messages count as a flood, too. */
const STDERR_MESSAGE_BYTES = 256;
/** The same for a report of unawaited work, of which a guest sends two or three. */
const REPORT_BYTES = 16 * 1024;
/** A larger value takes milliseconds to read, and to look through. */
const LARGE_VALUE_BYTES = 128 * 1024;
/** Pieces of unawaited work that an outcome names. */
const MAX_UNAWAITED = 40;

/** An outcome without the report that all outcomes share. */
type Ending = RunOutcome extends infer Outcome
  ? Outcome extends RunOutcome
    ? Omit<Outcome, keyof RunReport>
    : never
  : never;

export interface SessionSettings {
  connected: ConnectedGuest;
  /** The compiled program. */
  source: string;
  limits: RunLimits;
  isolation: Isolation;
  request: RunRequest;
  /** `performance.now()` when the run was requested. */
  startedAt: number;
  /** Ends the run with the outcome `disposed`. */
  disposed: AbortSignal;
  /** Returns the guest to its session after a run that ended by itself. Absent: the guest is killed. */
  release?: (() => void) | undefined;
  quota?: WorkspaceQuota | undefined;
  ticket?: RunTicket | undefined;
}

/** One run on one guest, from the program's start to its outcome. */
export class RunSession implements GuestListener {
  readonly #settings: SessionSettings;
  readonly #output: RunOutput;
  readonly #bridge: ToolBridge;
  readonly #clock: RunClock;
  readonly #outcome: PromiseWithResolvers<RunOutcome> = Promise.withResolvers<RunOutcome>();
  readonly #cleanups: (() => void)[] = [];
  #unawaited: UnawaitedWork[] = [];
  /** The size of the message with the program's value. */
  #valueBytes = 0;
  #ended = false;
  /** Whether the guest's own realm is, or was, in the program's reach. */
  #isSingleUse = false;
  #peakBytes = 0;

  constructor(settings: SessionSettings) {
    const { request, limits, connected } = settings;
    this.#settings = settings;
    this.#output = new RunOutput(limits.outputBytes, request.onOutput);
    this.#bridge = new ToolBridge({
      invoker: request.invoker,
      limits,
      leftMs: () => Math.max(0, limits.timeoutMs - this.#clock.spentMs),
      onToolCall: request.onToolCall,
      send: (line, sent) => connected.guest.stdin.write(line, () => sent()),
      kill: (reason, message) => this.#kill(reason, message),
      onWaiting: (isWaiting) => this.#clock.setWaiting(isWaiting),
    });
    const { timeoutMs } = limits;
    this.#clock = new RunClock(timeoutMs, () => this.#timeOut(timeoutMs));
  }

  /** Starts the program and resolves with its outcome. Never rejects. */
  async run(): Promise<RunOutcome> {
    const { connected, source, limits, request, disposed } = this.#settings;
    connected.listen(this, limits.payloadBytes + FRAME_OVERHEAD_BYTES);
    this.#onAbort(request.signal, "aborted", "The run was aborted.");
    this.#onAbort(disposed, "disposed", "The sandbox was disposed.");
    if (!this.#ended) this.#begin();
    const { callsInFlight, payloadBytes } = limits;
    const { modules } = request;
    const message = { type: "run", source, callsInFlight, payloadBytes, modules } as const;
    if (!this.#ended) connected.guest.stdin.write(encodeHostMessage(message));
    const outcome = await this.#outcome.promise;
    // Reading a large value took its time, and so does what is done with it next.
    if (this.#valueBytes > LARGE_VALUE_BYTES) await nextTurn();
    return outcome;
  }

  /** Begins to measure what the program takes. */
  #begin(): void {
    const { quota, ticket } = this.#settings;
    this.#clock.start();
    this.#cleanups.push(() => this.#clock.stop());
    this.#watchUsage();
    if (quota !== undefined)
      this.#cleanups.push(quota.watch((message) => this.#kill("workspace-quota", message)));
    ticket?.watch({ spentMs: () => this.#clock.spentMs, stop: (why) => this.#stop(why) });
  }

  onText(stream: "stdout" | "stderr", bytes: Buffer): void {
    if (this.#ended) return;
    this.#output.add(stream, bytes);
    this.#endIfFlood();
  }

  #endIfFlood(): void {
    if (!this.#output.isFlood) return;
    this.#kill(
      "output-flood",
      `The program printed far more than the ${this.#settings.limits.outputBytes} bytes kept.`,
    );
  }

  onViolation(problem: string, kind: "protocol" | "size"): void {
    const reason = kind === "size" ? "payload-limit" : "protocol";
    this.#kill(reason, `The guest sent ${problem}.`);
  }

  onMessage(message: GuestMessage, bytes: number): void {
    if (this.#ended) return;
    const { limits } = this.#settings;
    if (
      (message.type === "call" || message.type === "done") &&
      bytes > limits.payloadBytes + MESSAGE_OVERHEAD_BYTES
    ) {
      return this.#tooLarge(message.type === "call" ? "argument" : "value");
    }
    switch (message.type) {
      case "stderr":
        this.#output.charge(STDERR_MESSAGE_BYTES);
        return this.onText("stderr", Buffer.from(message.text));
      case "call":
        return this.#bridge.call(message);
      case "trace":
        return this.#bridge.trace(message);
      case "unawaited":
        this.#output.charge(bytes + REPORT_BYTES);
        this.#unawaited = toUnawaited(message).concat(this.#unawaited).slice(0, MAX_UNAWAITED);
        return this.#endIfFlood();
      case "single-use":
        if (this.#isSingleUse) return this.#kill("protocol", "The guest sent `single-use` twice.");
        this.#isSingleUse = true;
        return;
      case "limit":
        return this.#tooLarge(message.of);
      case "done":
        this.#valueBytes = bytes;
        return this.#end({ status: "completed", value: message.value });
      case "failed": {
        const error = mapGuestError(message.error);
        if (isAllocationFailure(error)) {
          return this.#end({ status: "out-of-memory", limitMb: limits.memoryMb });
        }
        // Only the word of a guest whose program can't write messages says that nothing was run.
        const kind = this.#isSingleUse ? "exception" : message.kind;
        return this.#end({ status: "failed", kind, error });
      }
      case "ready":
        return this.#kill("protocol", "The guest sent `ready` during a run.");
    }
  }

  onExit(exit: GuestExit): void {
    const { connected, limits } = this.#settings;
    const { stderrTail: stderr } = connected;
    this.#end(explainExit(exit, { stderr, peakBytes: this.#peakBytes, memoryMb: limits.memoryMb }));
  }

  #onAbort(signal: AbortSignal | undefined, reason: KillReason, message: string): void {
    if (signal === undefined) return;
    const abort = () => this.#kill(reason, message);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    this.#cleanups.push(() => signal.removeEventListener("abort", abort));
  }

  /** Measures a run that takes a while: measuring costs as much as a short run. */
  #watchUsage(): void {
    const { connected, limits, quota } = this.#settings;
    const { guest } = connected;
    if (guest.usage === undefined) return;
    let writtenBefore: number | undefined;
    let writtenLast: number | undefined;
    let computedLast: number | undefined;
    const timer = setInterval(() => {
      const usage = guest.usage?.();
      if (usage === undefined) return;
      this.#peakBytes = Math.max(this.#peakBytes, usage.memoryBytes);
      if (usage.memoryBytes > limits.memoryMb * BYTES_PER_MIB) {
        this.#end({ status: "out-of-memory", limitMb: limits.memoryMb });
      }
      this.#clock.charge(usage.processorMs - (computedLast ?? usage.processorMs));
      computedLast = usage.processorMs;
      const written = usage.writtenBytes - connected.receivedBytes;
      quota?.noteWritten(written - (writtenLast ?? written));
      writtenLast = written;
      writtenBefore ??= written;
      if (written - writtenBefore > limits.writeMb * BYTES_PER_MIB) {
        this.#kill("write-limit", `The program wrote more than ${limits.writeMb} MiB.`);
      }
    }, USAGE_POLL_MS);
    this.#cleanups.push(() => clearInterval(timer));
  }

  /** Ends the run as timed out, and reports unawaited work that is still pending as stopped. */
  #timeOut(limitMs: number): void {
    const calls = this.#bridge.pending;
    const isGoingOn = ({ kind, server, name }: UnawaitedWork) =>
      kind !== "call" || calls.some((call) => call.server === server && call.tool === name);
    const left = this.#unawaited.filter(isGoingOn);
    // Of tools that run in the guest only the guest knows.
    const stopped = left.length === 0 ? this.#unawaited : left;
    this.#unawaited = stopped.map((work) => ({ ...work, isStopped: true }));
    this.#end({ status: "timed-out", limitMs });
  }

  #stop({ code, message, details }: RunStop): void {
    this.#end({ status: "killed", reason: "meter", message, code, details });
  }

  #tooLarge(of: "argument" | "value"): void {
    const what = of === "argument" ? "A tool's argument" : "The program's value";
    this.#kill("payload-limit", `${what} is larger than ${this.#settings.limits.payloadBytes} bytes.`);
  }

  #kill(reason: KillReason, message: string): void {
    this.#end({ status: "killed", reason, message });
  }

  #end(ending: Ending): void {
    if (this.#ended) return;
    this.#ended = true;
    const { connected, isolation } = this.#settings;
    const byItself = endedByItself(ending);
    connected.listen(undefined);
    const { release } = this.#settings;
    if (release !== undefined && !this.#isSingleUse && byItself) release();
    else connected.guest.kill();
    for (const cleanUp of this.#cleanups) cleanUp();
    this.#bridge.end(byItself);
    this.#outcome.resolve({
      ...ending,
      output: this.#output.text,
      outputDroppedBytes: this.#output.droppedBytes,
      toolCalls: this.#bridge.records,
      toolResults: this.#bridge.samples,
      unawaited: this.#unawaited.length === 0 ? undefined : this.#unawaited,
      isolation,
      durationMs: performance.now() - this.#settings.startedAt,
    });
  }
}

function toUnawaited({ isStopped, work }: Extract<GuestMessage, { type: "unawaited" }>): UnawaitedWork[] {
  return work.map(({ kind, server, name, stack }) => {
    const line = lineOf(stack);
    const made: UnawaitedWork = { kind, name, isStopped };
    if (kind === "call") made.server = server;
    if (line !== undefined) made.line = line;
    return made;
  });
}

/** Whether the program completed or threw, so that its guest may serve another run. */
function endedByItself(ending: Ending): boolean {
  return ending.status === "completed" || (ending.status === "failed" && ending.kind === "exception");
}
