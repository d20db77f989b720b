import { setImmediate as nextTurn } from "node:timers/promises";
import { BYTES_PER_MB, createRunClock } from "@cem/core";
import type {
  Isolation,
  JsonValue,
  RunLimits,
  RunOutcome,
  RunReport,
  RunRequest,
  RunTicket,
  UnawaitedWork,
} from "@cem/core";
import type { ConnectedGuest, GuestListener } from "../guests/connected-guest.ts";
import { explainExit, isAllocationFailure } from "../guests/guest-exit.ts";
import { MAX_WORK, type GuestMessage } from "../protocol/guest-messages.ts";
import { lineOf, mapGuestError } from "../protocol/guest-stack.ts";
import { encodeHostMessage } from "../protocol/host-messages.ts";
import { createRunOutput } from "./run-output.ts";
import { createToolBridge, type KillReason } from "./tool-bridge.ts";
import type { WorkspaceQuota } from "../workspace/workspace-quota.ts";

const USAGE_POLL_MS = 25;
/** Space in a frame besides the payload, for names and a sample of a tool's result. */
const FRAME_OVERHEAD_BYTES = 512 * 1024;
const MESSAGE_OVERHEAD_BYTES = 1_024;

/** Added to the program's output for each message on stderr, so that empty messages count as a flood, too. */
const STDERR_MESSAGE_BYTES = 256;
/** Reports of unawaited work that a guest sends at most. */
const MAX_REPORTS = 3;
/** A larger value takes milliseconds to parse and to search. */
const LARGE_VALUE_BYTES = 128 * 1024;

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
  /** Called when a call starts or stops waiting for a person. */
  onWaiting?: ((isWaiting: boolean) => void) | undefined;
}

/** Executes one run on one guest, from the program's start to its outcome. Never rejects. */
export async function runOnGuest(settings: SessionSettings): Promise<RunOutcome> {
  const { connected, source, limits, isolation, request, startedAt, disposed } = settings;
  const { release, quota, ticket } = settings;
  const { timeoutMs, memoryMb, writeMb, payloadBytes, callsInFlight } = limits;
  const { guest } = connected;
  const output = createRunOutput(limits.outputBytes, request.onOutput);
  const clock = createRunClock(timeoutMs, timeOut);
  const bridge = createToolBridge({
    invoker: request.invoker,
    limits,
    leftMs: () => Math.max(0, timeoutMs - clock.spentMs),
    onToolCall: request.onToolCall,
    send: (line, sent) => guest.stdin.write(line, () => sent()),
    kill,
    onWaiting(isWaiting) {
      clock.setWaiting(isWaiting);
      settings.onWaiting?.(isWaiting);
    },
  });
  const outcome = Promise.withResolvers<RunOutcome>();
  const cleanups: (() => void)[] = [];
  let unawaited: UnawaitedWork[] = [];
  let reports = 0;
  /** The value of a program that has returned, while the run waits. */
  let returned: { value: JsonValue } | undefined;
  /** The size of the message with the program's value. */
  let valueBytes = 0;
  let hasEnded = false;
  /** Whether the guest's own realm is, or was, in the program's reach. */
  let isSingleUse = false;
  let peakBytes = 0;

  const listener: GuestListener = {
    onText(stream, bytes) {
      if (hasEnded) return;
      output.add(stream, bytes);
      endIfFlood();
    },
    onViolation(problem, kind) {
      kill(kind === "size" ? "payload-limit" : "protocol", `The guest sent ${problem}.`);
    },
    onMessage(message, bytes) {
      if (hasEnded) return;
      const isCall = message.type === "call";
      const isValue = message.type === "done" || message.type === "returned";
      if ((isCall || isValue) && bytes > payloadBytes + MESSAGE_OVERHEAD_BYTES)
        return tooLarge(isCall ? "argument" : "value");
      if (isValue) valueBytes = bytes;
      switch (message.type) {
        case "stderr":
          output.charge(STDERR_MESSAGE_BYTES);
          return listener.onText("stderr", Buffer.from(message.text));
        case "call":
          return bridge.call(message);
        case "trace":
          return bridge.trace(message);
        case "unawaited":
          reports += 1;
          if (reports > MAX_REPORTS) return kill("protocol", "The guest sent `unawaited` too often.");
          bridge.leave();
          unawaited = toUnawaited(message).concat(unawaited).slice(0, MAX_WORK);
          return;
        case "single-use":
          if (isSingleUse) return kill("protocol", "The guest sent `single-use` twice.");
          isSingleUse = true;
          return;
        case "limit":
          return tooLarge(message.of);
        case "returned":
          if (returned !== undefined) return kill("protocol", "The guest sent `returned` twice.");
          returned = message;
          return;
        case "done":
          return end({ status: "completed", value: message.value });
        case "failed": {
          const error = mapGuestError(message.error);
          if (isAllocationFailure(message.error)) return end({ status: "out-of-memory", limitMb: memoryMb });
          // `syntax` means that no code has run: trusted only before any call, from a guest whose program can't write messages.
          const hasCalled = bridge.records.length + bridge.pending.length > 0;
          const kind = isSingleUse || hasCalled ? "exception" : message.kind;
          return end({ status: "failed", kind, error });
        }
        case "ready":
          return kill("protocol", "The guest sent `ready` during a run.");
      }
    },
    onExit: (exit) => {
      const openCalls = bridge.pending.length;
      end(explainExit(exit, { stderr: connected.stderrTail, peakBytes, memoryMb, openCalls }));
    },
  };

  /** Starts metering the program. */
  function begin(): void {
    clock.start();
    cleanups.push(() => clock.stop());
    watchUsage();
    if (quota !== undefined) cleanups.push(quota.watch((message) => kill("workspace-quota", message)));
    ticket?.watch({
      spentMs: () => clock.spentMs,
      stop: ({ code, message, details }) =>
        end({ status: "killed", reason: "meter", message, code, details }),
    });
  }

  function endIfFlood(): void {
    if (!output.isFlood) return;
    kill("output-flood", `The program printed far more than the ${limits.outputBytes} bytes kept.`);
  }

  function onAbort(signal: AbortSignal | undefined, reason: KillReason, message: string): void {
    if (signal === undefined) return;
    const abort = () => kill(reason, message);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    cleanups.push(() => signal.removeEventListener("abort", abort));
  }

  /** Measures only runs that take a while: measuring costs as much as a short run. */
  function watchUsage(): void {
    if (guest.usage === undefined) return;
    let writtenBefore: number | undefined;
    let writtenLast: number | undefined;
    let computedLast: number | undefined;
    const timer = setInterval(() => {
      const usage = guest.usage?.();
      if (usage === undefined) return;
      peakBytes = Math.max(peakBytes, usage.memoryBytes);
      if (usage.memoryBytes > memoryMb * BYTES_PER_MB) end({ status: "out-of-memory", limitMb: memoryMb });
      clock.charge(usage.processorMs - (computedLast ?? usage.processorMs));
      computedLast = usage.processorMs;
      const written = usage.writtenBytes - connected.receivedBytes;
      quota?.noteWritten(written - (writtenLast ?? written));
      writtenLast = written;
      writtenBefore ??= written;
      if (written - writtenBefore > writeMb * BYTES_PER_MB)
        kill("write-limit", `The program wrote more than ${writeMb} MiB.`);
    }, USAGE_POLL_MS);
    cleanups.push(() => clearInterval(timer));
  }

  /** Stops a run that is out of time, and reports unawaited work that is still pending as stopped. */
  function timeOut(): void {
    const calls = bridge.pending;
    const isGoingOn = ({ kind, server, name }: UnawaitedWork) =>
      kind !== "call" || calls.some((call) => call.server === server && call.tool === name);
    const left = unawaited.filter(isGoingOn);
    // Only the guest knows of tools that run in it.
    const stopped = left.length === 0 ? unawaited : left;
    unawaited = stopped.map((work) => ({ ...work, isStopped: true }));
    if (returned === undefined) end({ status: "timed-out", limitMs: timeoutMs });
    else end({ status: "completed", value: returned.value }, false);
  }

  function tooLarge(of: "argument" | "value"): void {
    const what = of === "argument" ? "A tool's argument" : "The program's value";
    kill("payload-limit", `${what} is larger than ${payloadBytes} bytes.`);
  }

  function kill(reason: KillReason, message: string): void {
    end({ status: "killed", reason, message });
  }

  function end(ending: Ending, byItself = endedByItself(ending)): void {
    if (hasEnded) return;
    hasEnded = true;
    connected.listen(undefined);
    if (release !== undefined && !isSingleUse && byItself) release();
    else guest.kill();
    for (const cleanUp of cleanups) cleanUp();
    const report = (): void =>
      outcome.resolve({
        ...ending,
        output: output.text,
        outputDroppedBytes: output.droppedBytes,
        toolCalls: bridge.records,
        toolResults: bridge.samples,
        unawaited: unawaited.length === 0 ? undefined : unawaited,
        isolation,
        durationMs: performance.now() - startedAt,
      });
    void bridge
      .end(byItself, [disposed, ...(request.signal === undefined ? [] : [request.signal])])
      .then(report);
  }

  connected.listen(listener, payloadBytes + FRAME_OVERHEAD_BYTES);
  onAbort(request.signal, "aborted", "The run was aborted.");
  onAbort(disposed, "disposed", "The sandbox was disposed.");
  if (!hasEnded) begin();
  const message = { type: "run", source, callsInFlight, payloadBytes, modules: request.modules } as const;
  if (!hasEnded) guest.stdin.write(encodeHostMessage(message));
  const ended = await outcome.promise;
  // Parsing a large value took a while, and so will processing it.
  if (valueBytes > LARGE_VALUE_BYTES) await nextTurn();
  return ended;
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
