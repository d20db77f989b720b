import { setTimeout as sleep } from "node:timers/promises";
import { callListener, CemError, fromErrorInfo, toErrorInfo } from "@cem/core";
import type { AgentEvent, AnnouncedCall, ErrorInfo, ExecuteOptions, JsonValue, TaskResult } from "@cem/core";
import type { RunNames } from "./connection.ts";
import type { Question, QueuedRun, RunMessage, RunReply } from "./protocol.ts";
import { CANCELLED, HANDLERS, interrupted, unrunResult } from "./protocol.ts";
import type { SharedRuns } from "./shared-runs.ts";
import type { connect, StreamEntry } from "./streams.ts";

/** How often the run is checked: its worker and its messages may both be lost. */
const LOOK_MS = 5_000;
/** A run that no worker has taken after this time is reported as waiting. */
const WAITING_MS = 250;
/** How long a worker may take to end a cancelled run. */
const CANCEL_MS = 10_000;
/** The same when the host shuts down, which would be killed if it took long. */
const CLOSING_CANCEL_MS = 3_000;
/** Delay before a cancellation that the server did not accept is sent again. */
const TELL_AGAIN_MS = 500;
const UNTOLD: ErrorInfo = {
  ...CANCELLED,
  message: "The run was cancelled, but its worker could not be told yet: until then it goes on.",
};

export interface Opened extends ReturnType<typeof connect> {
  runs: SharedRuns;
  /** The channel of its notices. */
  host: string;
  /** Aborts when the connections are freed. */
  closing: AbortController;
}

interface AwaitedRun {
  id: string;
  names: RunNames;
  run: QueuedRun;
  options: ExecuteOptions;
  /** Questions that another host has answered. */
  answered?: readonly number[] | undefined;
}

/**
 * Waits for a run and follows its worker's messages from the beginning.
 *
 * @param put - Puts the run into the queue if it is not there. Returns whether it is new: then nothing has to be read.
 */
export async function awaitRun(
  { streams, runs, closing }: Opened,
  { id, names, run, options, answered = [] }: AwaitedRun,
  put: () => Promise<boolean>,
): Promise<TaskResult> {
  const { signal, onEvent, rejoin } = options;
  const settled = Promise.withResolvers<TaskResult>();
  const calls: AnnouncedCall[] = [];
  const questions = new Map<number, AbortController>();
  /** Detaches from the run when it aborts. */
  const leaving = AbortSignal.any([closing.signal, ...(rejoin?.leave === undefined ? [] : [rejoin.leave])]);
  let looking: NodeJS.Timeout | undefined;
  let cancelling: NodeJS.Timeout | undefined;
  /** Pending until the worker sends its first message. */
  let waiting: NodeJS.Timeout | undefined;
  /** Whether the queue has received the cancellation. */
  let isTold = false;
  let isOver = false;
  // Nobody awaits the result of a run that can't be put into the queue.
  settled.promise.catch(() => {});

  const follower = streams.listen(
    names.messages,
    (message) => receive(message as RunMessage),
    // A message that can't be decoded is a permanent failure; a lost connection is not.
    (problem) => CemError.isInstance(problem) && reject(problem),
  );
  try {
    if (!(await put())) follower.look();
  } catch (error) {
    stop();
    throw error;
  }
  // The result may arrive before the server confirms that the run was put.
  if (isOver) return settled.promise;
  looking = setInterval(() => void look().catch(() => {}), LOOK_MS);
  if (onEvent !== undefined) waiting = setTimeout(() => void reportWaiting().catch(() => {}), WAITING_MS);
  signal?.addEventListener("abort", cancel, { once: true });
  leaving.addEventListener("abort", leave, { once: true });
  if (leaving.aborted) leave();
  else if (signal?.aborted === true) cancel();
  return settled.promise;

  function stop(): void {
    isOver = true;
    follower.stop();
    clearInterval(looking);
    clearTimeout(cancelling);
    clearTimeout(waiting);
    signal?.removeEventListener("abort", cancel);
    leaving.removeEventListener("abort", leave);
    for (const controller of questions.values()) controller.abort();
  }

  function receive(message: RunMessage): void {
    if (isOver) return;
    clearTimeout(waiting);
    waiting = undefined;
    if (message.type === "call") calls.push(message.call);
    else if (message.type === "event") tell(message.event);
    else if (message.type === "question") void answer(message);
    else if (message.type === "withdrawn") questions.get(message.number)?.abort();
    else if (message.type === "result") {
      runs.noteEnded(id);
      resolve(message.result);
    } else if (message.type === "failed") reject(fromErrorInfo(message.error));
  }

  async function reportWaiting(): Promise<void> {
    const { workers } = await runs.counts();
    if (!isOver && waiting !== undefined) tell({ type: "waiting", workers });
  }

  function tell(event: AgentEvent): void {
    const warn = (error: unknown): void =>
      process.emitWarning(`onEvent threw at ${event.type}: ${toErrorInfo(error).message}`, "CemWarning");
    callListener(() => onEvent?.(event), warn);
  }

  async function answer(question: Question): Promise<void> {
    const { number } = question;
    if (answered.includes(number)) return;
    const controller = new AbortController();
    questions.set(number, controller);
    let entry: StreamEntry;
    try {
      // An answer that is not JSON can't be sent.
      entry = entryOf({ type: "answer", number, value: await ask(question, controller.signal) });
    } catch (error) {
      entry = entryOf({ type: "refusal", number, reason: toErrorInfo(error).message });
    }
    questions.delete(number);
    if (!isOver) await send(entry);
  }

  async function ask({ kind, request }: Question, signal: AbortSignal): Promise<JsonValue> {
    // The run may have been started by another host that can answer more kinds of questions.
    const handler = options[HANDLERS[kind]] as ((request: object) => Promise<JsonValue>) | undefined;
    const answer = await handler?.({ ...(request as object), signal });
    if (answer === undefined) throw new Error("Nobody can be asked here.");
    return answer;
  }

  function leave(): void {
    const message = "The run was left to others.";
    resolve(unrunResult(run, { code: "ABORTED", message, details: { isLeft: true } }, calls));
  }

  function cancel(): void {
    void tellCancelled();
    void removeWaiting().catch(() => {});
    const waitMs = toErrorInfo(signal?.reason).code === "SERVER_CLOSING" ? CLOSING_CANCEL_MS : CANCEL_MS;
    cancelling = setTimeout(() => resolve(unrunResult(run, isTold ? CANCELLED : UNTOLD, calls)), waitMs);
  }

  /**
   * Also sent after the host's answer. Each time with a new entry: one older than an answer sent meanwhile would be
   * skipped.
   */
  async function tellCancelled(): Promise<void> {
    while (!(isTold = await send(entryOf({ type: "cancel" }))) && !closing.signal.aborted)
      await sleep(TELL_AGAIN_MS);
  }

  /** Ends the run for every host that waits for it. */
  async function removeWaiting(): Promise<void> {
    const content: RunMessage = { type: "result", result: unrunResult(run, CANCELLED) };
    await runs.remove(id, streams.entryOf(names.messages, [content]), true);
  }

  /** @returns whether it was delivered. If not, the question stays open until its call ends. */
  function send(entry: StreamEntry): Promise<boolean> {
    return runs.reply(id, entry).then(
      () => true,
      () => false,
    );
  }

  function entryOf(reply: RunReply): StreamEntry {
    return streams.entryOf(names.replies, [reply]);
  }

  /** Checks for a run that failed or is gone, which sends no more messages. Its last one may be in transit. */
  async function look(): Promise<void> {
    const why = await runs.whyGone(id);
    if (why === undefined || isOver) return;
    const told = (await streams.read(names.messages)) as RunMessage[];
    if (told.some(({ type }) => type === "result" || type === "failed")) follower.look();
    else resolve(unrunResult(run, interrupted(calls, why), calls));
  }

  function resolve(result: TaskResult): void {
    if (isOver) return;
    stop();
    tell({ type: "finished", result });
    settled.resolve(result);
  }

  function reject(error: unknown): void {
    stop();
    settled.reject(error);
  }
}
