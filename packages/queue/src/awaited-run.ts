import { CemError, fromErrorInfo, toErrorInfo } from "@cem/core";
import type {
  AgentEvent,
  AnnouncedCall,
  ApprovalRequest,
  ElicitRequest,
  ErrorInfo,
  ExecuteOptions,
  JsonValue,
  Sample,
  TaskResult,
} from "@cem/core";
import type { Redis } from "ioredis";
import type { MessageCodec, RunNames } from "./connection.ts";
import type { Question, QueuedRun, RunMessage, RunReply } from "./protocol.ts";
import { interrupted, unrunResult } from "./protocol.ts";
import type { SharedRuns } from "./shared-runs.ts";
import type { StreamEntry, Streams } from "./streams.ts";

/** How often the run is looked for: its worker and its messages may both be lost. */
const LOOK_MS = 5_000;
/** A run that no worker has taken by then is reported as waiting. */
const WAITING_MS = 250;
/** How long a worker may take to end a run that is cancelled. */
const CANCEL_MS = 10_000;
const CANCELLED: ErrorInfo = { code: "ABORTED", message: "The run was cancelled.", details: {} };

/** The connections of a host. */
export interface Opened {
  client: Redis;
  subscriber: Redis;
  codec: MessageCodec;
  streams: Streams;
  runs: SharedRuns;
  /** The channel of its notices. */
  host: string;
  /** Aborts when the connections are freed. */
  closing: AbortController;
}

/** A run, as seen by the host that waits for it. */
export class AwaitedRun {
  readonly #opened: Opened;
  readonly #names: RunNames;
  readonly #id: string;
  readonly #run: QueuedRun;
  readonly #options: ExecuteOptions;
  readonly #settled = Promise.withResolvers<TaskResult>();
  readonly #calls: AnnouncedCall[] = [];
  readonly #questions = new Map<number, AbortController>();
  readonly #answered = new Set<number>();
  /** Leaves the run to others when it aborts. */
  readonly #leaving: AbortSignal;
  #stopFollowing: (() => void) | undefined;
  #looking: NodeJS.Timeout | undefined;
  #cancelling: NodeJS.Timeout | undefined;
  /** Runs until the worker sends its first message. */
  #waiting: NodeJS.Timeout | undefined;
  #isMissing = false;
  #isOver = false;

  constructor(opened: Opened, names: RunNames, id: string, run: QueuedRun, options: ExecuteOptions) {
    this.#opened = opened;
    this.#names = names;
    this.#id = id;
    this.#run = run;
    this.#options = options;
    const { leave } = options.rejoin ?? {};
    this.#leaving = AbortSignal.any([opened.closing.signal, ...(leave === undefined ? [] : [leave])]);
    // Of a run that can't be put into the queue nobody takes the result.
    this.#settled.promise.catch(() => {});
  }

  /** Skips questions that another host has answered. Call it before {@link follow}. */
  leaveOut(questions: readonly number[]): void {
    for (const number of questions) this.#answered.add(number);
  }

  /**
   * Follows the worker's messages from the first on.
   *
   * @param put - Puts the run into the queue where it is not there. Returns whether it is new: nothing has to be read then.
   */
  async follow(put: () => Promise<boolean>): Promise<TaskResult> {
    const { signal } = this.#options;
    const { look, stop } = this.#opened.streams.listen(
      this.#names.messages,
      (message) => this.#receive(message as RunMessage),
      // A message that can't be decoded stays so; a cut ends.
      (problem) => CemError.isInstance(problem) && this.#reject(problem),
    );
    this.#stopFollowing = stop;
    try {
      if (!(await put())) look();
    } catch (error) {
      this.stop();
      throw error;
    }
    // The answer may be there before the server's word that the run was put.
    if (this.#isOver) return this.#settled.promise;
    this.#looking = setInterval(() => void this.#look().catch(() => {}), LOOK_MS);
    if (this.#options.onEvent !== undefined)
      this.#waiting = setTimeout(() => void this.#reportWaiting().catch(() => {}), WAITING_MS);
    signal?.addEventListener("abort", this.#cancel, { once: true });
    this.#leaving.addEventListener("abort", this.#leave, { once: true });
    if (this.#leaving.aborted) this.#leave();
    else if (signal?.aborted === true) this.#cancel();
    return this.#settled.promise;
  }

  stop(): void {
    this.#isOver = true;
    this.#stopFollowing?.();
    clearInterval(this.#looking);
    clearTimeout(this.#cancelling);
    clearTimeout(this.#waiting);
    this.#options.signal?.removeEventListener("abort", this.#cancel);
    this.#leaving.removeEventListener("abort", this.#leave);
    for (const controller of this.#questions.values()) controller.abort();
  }

  #receive(message: RunMessage): void {
    if (this.#isOver) return;
    clearTimeout(this.#waiting);
    this.#waiting = undefined;
    if (message.type === "call") this.#calls.push(message.call);
    else if (message.type === "event") this.#tell(message.event);
    else if (message.type === "question") void this.#answer(message);
    else if (message.type === "withdrawn") this.#questions.get(message.number)?.abort();
    else if (message.type === "result") this.#resolve(message.result);
    else if (message.type === "failed") this.#reject(fromErrorInfo(message.error));
  }

  async #reportWaiting(): Promise<void> {
    const { workers } = await this.#opened.runs.counts();
    if (!this.#isOver && this.#waiting !== undefined) this.#tell({ type: "waiting", workers });
  }

  /** A listener's mistake must not end the run that it listens to. */
  #tell(event: AgentEvent): void {
    const warn = (error: unknown): void =>
      process.emitWarning(`onEvent threw at ${event.type}: ${toErrorInfo(error).message}`, "CemWarning");
    try {
      // One that is asynchronous is not waited for.
      Promise.resolve(this.#options.onEvent?.(event) as unknown).catch(warn);
    } catch (error) {
      warn(error);
    }
  }

  async #answer(question: Question): Promise<void> {
    const { number } = question;
    if (this.#answered.has(number)) return;
    const controller = new AbortController();
    this.#questions.set(number, controller);
    let entry: StreamEntry;
    try {
      // An answer that is no JSON can't be sent.
      entry = this.#entryOf({ type: "answer", number, value: await this.#put(question, controller.signal) });
    } catch (error) {
      entry = this.#entryOf({ type: "refusal", number, reason: toErrorInfo(error).message });
    }
    this.#questions.delete(number);
    if (!this.#isOver) await this.#send(entry);
  }

  async #put({ kind, request }: Question, signal: AbortSignal): Promise<JsonValue> {
    const { onElicit, onApprove, onSample } = this.#options;
    const asked = { ...(request as object), signal };
    // Another host may have begun the run, which could be asked more.
    const answer =
      kind === "elicit"
        ? await onElicit?.(asked as ElicitRequest)
        : kind === "approve"
          ? await onApprove?.(asked as ApprovalRequest)
          : await onSample?.(asked as Parameters<Sample>[0]);
    if (answer === undefined) throw new Error("Nobody can be asked here.");
    return answer as JsonValue;
  }

  readonly #leave = (): void => {
    const message = "The run was left to others.";
    this.#resolve(unrunResult(this.#run, { code: "ABORTED", message, details: {} }, this.#calls));
  };

  readonly #cancel = (): void => {
    void this.#send(this.#entryOf({ type: "cancel" }));
    void this.#removeWaiting().catch(() => {});
    this.#cancelling = setTimeout(
      () => this.#resolve(unrunResult(this.#run, CANCELLED, this.#calls)),
      CANCEL_MS,
    );
  };

  /** Ends it for all who wait for it. */
  async #removeWaiting(): Promise<void> {
    const content: RunMessage = { type: "result", result: unrunResult(this.#run, CANCELLED) };
    const { runs, streams } = this.#opened;
    await runs.remove(this.#id, streams.entryOf(this.#names.messages, [content]), true);
  }

  /** A reply that does not arrive leaves the question open until its call ends. */
  async #send(entry: StreamEntry): Promise<void> {
    await this.#opened.runs.reply(this.#id, entry).catch(() => {});
  }

  #entryOf(reply: RunReply): StreamEntry {
    return this.#opened.streams.entryOf(this.#names.replies, [reply]);
  }

  /** A run that failed or is gone sends nothing more. Checked twice, in case its last message is on its way. */
  async #look(): Promise<void> {
    const why = await this.#opened.runs.whyGone(this.#id);
    if (why !== undefined && this.#isMissing)
      this.#resolve(unrunResult(this.#run, interrupted(this.#calls, why), this.#calls));
    this.#isMissing = why !== undefined;
  }

  #resolve(result: TaskResult): void {
    if (this.#isOver) return;
    this.stop();
    this.#tell({ type: "finished", result });
    this.#settled.resolve(result);
  }

  #reject(error: unknown): void {
    this.stop();
    this.#settled.reject(error);
  }
}
