import { setTimeout as sleep } from "node:timers/promises";
import { CemError, toErrorInfo } from "@cem/core";
import type { Agent, AgentEvent, AnnouncedCall, ExecuteOptions, JsonValue, TaskResult } from "@cem/core";
import { contextOf, traced } from "@cem/core/telemetry";
import { storeUnavailable } from "@cem/store";
import { QUEUE, messaging, namesOf, type MessageCodec } from "./connection.ts";
import { CANCELLED, HANDLERS, interrupted, recordsOf, unrunResult } from "./protocol.ts";
import type { Question, QueuedRun, RunMessage, RunReply } from "./protocol.ts";
import { placeOfReason } from "./run-queue.ts";
import { SET_BACK, type Remembered } from "./remembered.ts";
import type { Ending, GivenRun, SharedRuns } from "./shared-runs.ts";
import type { Streams } from "./streams.ts";

/** Separates the question numbers of an attempt from those of earlier attempts. */
const MAX_QUESTIONS = 1_000_000;
/** How long an event waits to be sent together with others. */
const SOON_MS = 100;
/** Maximum number of such waiting events. */
const MAX_SOON = 64;
/** Maximum length of a tool's progress message, in characters. */
const MAX_PROGRESS_CHARACTERS = 1_000;
/** Retries of records that the server refuses, and the pause between them. */
const MAX_TRIES = 20;
const TRY_AGAIN_MS = 250;
/** The run of a deleted owner is ended, and nothing is kept of it. */
const OWNER_GONE = "OWNER_GONE";
const GONE = new CemError(OWNER_GONE, "The owner was deleted while the run was under way, so it was ended.");
/** The end of an attempt that may be repeated. A run that was cancelled is charged anew if somebody repeats it. */
const INTERRUPTED = new CemError("ABORTED", "The attempt was ended.", { details: { isInterrupted: true } });

/** The part of an agent that executes runs. */
export type RunningAgent = Pick<Agent, "executeTask" | "executeCode">;

export interface WorkerRunSettings {
  runs: SharedRuns;
  streams: Streams;
  codec: MessageCodec;
  prefix: string;
  /** The server, as errors name it. */
  location: string;
  /** The worker's unique name. */
  worker: string;
  agentFor: (owner: string | undefined, incarnation: string | undefined) => Promise<RunningAgent>;
  /** The calls of this worker's runs that must not be repeated, of which a server that was set back knows nothing. */
  called: Remembered<readonly AnnouncedCall[]>;
  onProblem: (error: Error) => void;
  /** Called when a run starts to wait for an answer, and when it has received all of them. */
  onAsking: () => void;
}

/** A worker's attempt at a run. Once another attempt has begun, this one sends nothing and makes no more calls. */
export type WorkerRun = ReturnType<typeof attemptRun>;

export function attemptRun(settings: WorkerRunSettings, given: GivenRun) {
  const { runs, streams, codec, prefix, location, worker, agentFor, called, onProblem, onAsking } = settings;
  const { id } = given;
  const names = namesOf(prefix, id);
  const controller = new AbortController();
  const questions = new Map<number, Pick<PromiseWithResolvers<JsonValue>, "resolve" | "reject">>();
  const soon: RunMessage[] = [];
  let asked = 0;
  let isLost = false;
  let isStopped = false;
  let calls: AnnouncedCall[] = [];
  /** Of an id that a later owner uses again, the runs are others. */
  let known = id;
  let sendingSoon: NodeJS.Timeout | undefined;

  const replies = streams.listen(names.replies, (content) => {
    const reply = content as RunReply;
    if (reply.type === "cancel") controller.abort(reply.isGone === true ? GONE : undefined);
    else if (reply.type === "answer") questions.get(reply.number)?.resolve(reply.value);
    else questions.get(reply.number)?.reject(new Error(reply.reason));
  });

  const lose = (): void => {
    isLost = true;
    controller.abort(INTERRUPTED);
  };

  /** @returns whether this attempt still holds the run's lease. If not, it ends. */
  const send = async (message?: RunMessage, ending: Ending = "", reason?: string): Promise<boolean> => {
    clearTimeout(sendingSoon);
    sendingSoon = undefined;
    if (isLost) return false;
    const contents = [...soon.splice(0), ...(message === undefined ? [] : [message])];
    const entry = contents.length === 0 ? undefined : streams.entryOf(names.messages, contents);
    let isNewest: boolean;
    for (let tries = 1; ; tries += 1) {
      try {
        isNewest = await runs.send({ ...given, worker }, ending, entry, reason);
        break;
      } catch (error) {
        // A full server may soon have room again.
        if (tries === MAX_TRIES || message === undefined) throw storeUnavailable(location, error);
        await sleep(TRY_AGAIN_MS);
      }
    }
    if (!isNewest) lose();
    return isNewest;
  };

  /**
   * Batches a message that nobody waits for with the next one, or sends it after a moment: each message costs the run
   * and all machines.
   */
  const sendSoon = (message: RunMessage): void => {
    soon.push(message);
    if (soon.length < MAX_SOON) {
      sendingSoon ??= setTimeout(() => void send().catch(() => {}), SOON_MS);
    } else send().catch(() => {});
  };

  /** Only the newest unsent progress of a tool is kept. */
  const sendProgress = (event: Extract<AgentEvent, { type: "tool-progressed" }>): void => {
    const { server, tool, progress } = event;
    const message = progress.message?.slice(0, MAX_PROGRESS_CHARACTERS);
    const at = soon.findIndex(
      (one) =>
        one.type === "event" &&
        one.event.type === "tool-progressed" &&
        one.event.server === server &&
        one.event.tool === tool,
    );
    if (at !== -1) soon.splice(at, 1);
    sendSoon({ type: "event", event: { ...event, progress: { ...progress, message } } });
  };

  /** Ends the run. For a deleted owner, only the last message is kept, for a short time. */
  const end = async (ending: Ending, message?: RunMessage, reason?: string): Promise<void> => {
    if (ending === "gone") soon.length = 0;
    if ((await send(message, ending, reason)) && ending === "done") runs.noteEnded(id);
  };

  const interrupt = (run: QueuedRun, why: string): Promise<void> =>
    end("done", { type: "result", result: unrunResult(run, interrupted(calls, why), calls) });

  const isRepeatable = (): boolean => calls.every((call) => call.isRepeatable);

  /** A call that could not be recorded is not made. */
  const announce = async (call: AnnouncedCall): Promise<void> => {
    if (isStopped) throw new CemError("RUN_INTERRUPTED", "The worker stops, so it calls nothing more.");
    calls.push(call);
    const isRecorded = await send({ type: "call", call });
    if (isRecorded && !isRepeatable()) called.set(known, calls);
    if (isRecorded) return;
    throw new CemError("RUN_INTERRUPTED", "Another worker has the run, so this one calls nothing more.");
  };

  const ask = async (
    kind: Question["kind"],
    { signal, ...request }: { signal: AbortSignal },
  ): Promise<JsonValue> => {
    const number = given.attempt * MAX_QUESTIONS + (asked += 1);
    const { promise, resolve, reject } = Promise.withResolvers<JsonValue>();
    // The call may end while its question is still in transit.
    promise.catch(() => {});
    questions.set(number, { resolve, reject });
    if (questions.size === 1) onAsking();
    const withdraw = (): void => {
      reject(new Error("The call has ended."));
      send({ type: "withdrawn", number }).catch(() => {});
    };
    signal.addEventListener("abort", withdraw, { once: true });
    try {
      signal.throwIfAborted();
      await send({ type: "question", number, kind, request });
      return await promise;
    } finally {
      signal.removeEventListener("abort", withdraw);
      questions.delete(number);
      if (questions.size === 0) onAsking();
    }
  };

  const optionsOf = ({ options, asked: kinds, isUnheard }: QueuedRun): ExecuteOptions => ({
    ...options,
    // The same in each attempt: the run counts once.
    runId: options.runId ?? id,
    signal: controller.signal,
    // The result is sent separately. A worker that has closed its connection sends nothing more.
    onEvent:
      isUnheard === true
        ? undefined
        : (event) => {
            if (event.type === "tool-progressed") sendProgress(event);
            else if (event.type !== "finished") sendSoon({ type: "event", event });
          },
    onCall: announce,
    ...Object.fromEntries(
      kinds.map((kind) => [HANDLERS[kind], (request: { signal: AbortSignal }) => ask(kind, request)]),
    ),
  });

  const executeOn = async (opening: Promise<RunningAgent>, run: QueuedRun): Promise<TaskResult> => {
    const [agent, options] = [await opening, optionsOf(run)];
    return run.kind === "task"
      ? agent.executeTask(run.input, options)
      : agent.executeCode(run.input, options);
  };

  const attempt = async (run: QueuedRun): Promise<void> => {
    if (given.isTold) {
      replies.look();
      const earlier = (await streams.read(names.messages)) as RunMessage[];
      calls = earlier.flatMap((message) => (message.type === "call" ? [message.call] : []));
    }
    if (!isRepeatable()) return interrupt(run, "The worker was lost while it executed the run.");
    known = `${id} ${run.incarnation ?? ""}`;
    const before = called.get(known);
    if (before !== undefined) {
      calls = [...before];
      onProblem(new Error(`${SET_BACK} The run ${id} had called tools and is not run again.`));
      return interrupt(run, SET_BACK);
    }
    const earlier = recordsOf(calls);
    if (run.isUnheard !== true) sendSoon({ type: "started" });
    const ending = await executeOn(agentFor(run.owner, run.incarnation), run).catch((thrown: unknown) => {
      // An agent that was still preparing the run when it was aborted throws. That is no reason to repeat or keep the run.
      if (!controller.signal.aborted) throw thrown;
      return unrunResult(run, CemError.isInstance(thrown) ? toErrorInfo(thrown) : CANCELLED, calls);
    });
    // A repeat that was refused called nothing, unlike the attempt before it.
    const isRefused = ending.status === "refused";
    const result = isRefused ? { ...ending, toolCalls: [...earlier, ...ending.toolCalls] } : ending;
    const error = controller.signal.reason === GONE ? toErrorInfo(GONE) : result.error;
    if (error?.code === OWNER_GONE) {
      const left: TaskResult = { ...result, status: "error", code: "", output: "", value: null, error };
      await end("gone", { type: "result", result: left });
    } else if (!isStopped || result.status === "success") await end("done", { type: "result", result });
    else if (isRepeatable()) await end("back");
    else await interrupt(run, "The worker was stopped while it executed the run.");
  };

  return {
    /** Executes the run and sends its result, or the reason why it can't be executed. */
    async execute(): Promise<void> {
      const attributes = { ...messaging("process"), "messaging.message.id": id };
      try {
        if (isLost) return;
        const payload = given.payload || ((await runs.payloadOf(id)) ?? "");
        const run = codec.decode(`job:${id}`, payload) as QueuedRun;
        const parent = contextOf(run.trace);
        await traced(`process ${QUEUE}`, { kind: "consumer", attributes, parent }, () => attempt(run));
      } catch (error) {
        const info = toErrorInfo(error);
        // A run that can't be set up would fail again, so it waits for a person.
        const reason = codec.encode(placeOfReason(id), info.message);
        await end(info.code === OWNER_GONE ? "gone" : "dead", { type: "failed", error: info }, reason);
      } finally {
        clearTimeout(sendingSoon);
        replies.stop();
      }
    },
    isAsking: () => questions.size > 0,
    /** Ends the attempt because its worker stops. Its calls decide whether the run may be repeated. */
    stop(): void {
      isStopped = true;
      controller.abort(INTERRUPTED);
    },
    /** Ends the attempt: the worker has lost the run's lease. */
    lose,
  };
}
