import { setTimeout as sleep } from "node:timers/promises";
import { CemError, toErrorInfo } from "@cem/core";
import type {
  Agent,
  AnnouncedCall,
  ApprovalAnswer,
  ElicitAnswer,
  ExecuteOptions,
  JsonObject,
  JsonValue,
  TaskResult,
} from "@cem/core";
import { contextOf, traced } from "@cem/core/telemetry";
import { storeUnavailable } from "@cem/store";
import { QUEUE, messaging, namesOf } from "./connection.ts";
import type { MessageCodec, RunNames } from "./connection.ts";
import { interrupted, unrunResult } from "./protocol.ts";
import type { Question, QueuedRun, RunMessage, RunReply } from "./protocol.ts";
import { placeOfReason } from "./run-queue.ts";
import type { Ending, GivenRun, SharedRuns } from "./shared-runs.ts";
import type { Streams } from "./streams.ts";

/** Keeps the questions of an attempt apart from those of an earlier one. */
const MAX_QUESTIONS = 1_000_000;
/** How long an event waits for others to be sent with. */
const SOON_MS = 100;
/** How many of them wait at most. */
const MAX_SOON = 64;
/** How often what has to be recorded is tried where the server refuses it, and the pause between. */
const MAX_TRIES = 20;
const TRY_AGAIN_MS = 250;
/** A run of an owner who was deleted does not go on, and nothing is kept of it. */
const OWNER_GONE = "OWNER_GONE";
const GONE = new CemError(OWNER_GONE, "The owner was deleted while the run was under way, so it was ended.");

/** The part of an agent that executes runs. */
export type RunningAgent = Pick<Agent, "executeTask" | "executeCode">;

/** Where attempts are made. */
export interface WorkerRunSettings {
  runs: SharedRuns;
  streams: Streams;
  codec: MessageCodec;
  prefix: string;
  /** The server, as errors name it. */
  location: string;
  /** The worker's name among all. */
  worker: string;
  agentFor: (owner: string | undefined, incarnation: string | undefined) => Promise<RunningAgent>;
  /** Called when a run begins to wait for an answer to a question, and when it has all of them. */
  onAsking: () => void;
}

interface OpenQuestion {
  resolve: (value: JsonValue) => void;
  reject: (reason: Error) => void;
}

/** One attempt at a run, as its worker sees it. Once another attempt has begun, it sends and calls nothing more. */
export class WorkerRun {
  readonly #settings: WorkerRunSettings;
  readonly #given: GivenRun;
  readonly #names: RunNames;
  readonly #controller = new AbortController();
  readonly #questions = new Map<number, OpenQuestion>();
  #asked = 0;
  #isLost = false;
  #isStopped = false;
  #calls: AnnouncedCall[] = [];
  readonly #replies: { look: () => void; stop: () => void };
  readonly #soon: RunMessage[] = [];
  #sendingSoon: NodeJS.Timeout | undefined;

  constructor(settings: WorkerRunSettings, given: GivenRun) {
    this.#settings = settings;
    this.#given = given;
    this.#names = namesOf(settings.prefix, given.id);
    this.#replies = settings.streams.listen(this.#names.replies, (reply) => this.#hear(reply as RunReply));
  }

  /** Executes it and sends its result, or why it can't be executed. */
  async execute(): Promise<void> {
    const { codec, runs } = this.#settings;
    const { id } = this.#given;
    const attributes = { ...messaging("process"), "messaging.message.id": id };
    try {
      if (this.#isLost) return;
      const payload = this.#given.payload || ((await runs.payloadOf(id)) ?? "");
      const run = codec.decode(`job:${id}`, payload) as QueuedRun;
      const parent = contextOf(run.trace);
      await traced(`process ${QUEUE}`, { kind: "consumer", attributes, parent }, () => this.#attempt(run));
    } catch (error) {
      const info = toErrorInfo(error);
      // Repeating what can't be set up would fail again: it waits for a person.
      const reason = codec.encode(placeOfReason(id), info.message);
      await this.#end(info.code === OWNER_GONE ? "gone" : "dead", { type: "failed", error: info }, reason);
    } finally {
      clearTimeout(this.#sendingSoon);
      this.#replies.stop();
    }
  }

  async #attempt(run: QueuedRun): Promise<void> {
    const { streams, agentFor } = this.#settings;
    if (this.#given.isTold) {
      this.#replies.look();
      const earlier = (await streams.read(this.#names.messages)) as RunMessage[];
      this.#calls = earlier.flatMap((message) => (message.type === "call" ? [message.call] : []));
    }
    if (!this.#isRepeatable) return this.#interrupt(run, "The worker was lost while it executed the run.");
    if (run.isUnheard !== true) this.#sendSoon({ type: "started" });
    const agent = await agentFor(run.owner, run.incarnation);
    const options = this.#optionsOf(run);
    const result =
      run.kind === "task"
        ? await agent.executeTask(run.input, options)
        : await agent.executeCode(run.input, options);
    const error = this.#controller.signal.reason === GONE ? toErrorInfo(GONE) : result.error;
    if (error?.code === OWNER_GONE) {
      const left: TaskResult = { ...result, status: "error", code: "", output: "", value: null, error };
      await this.#end("gone", { type: "result", result: left });
    } else if (!this.#isStopped || result.status === "success")
      await this.#end("done", { type: "result", result });
    else if (this.#isRepeatable) await this.#end("back");
    else await this.#interrupt(run, "The worker was stopped while it executed the run.");
  }

  /** Whether it waits for answers to questions. */
  get isAsking(): boolean {
    return this.#questions.size > 0;
  }

  /** Ends the attempt because its worker stops. What it called decides whether the run may be repeated. */
  stop(): void {
    this.#isStopped = true;
    this.#controller.abort();
  }

  /** Ends the attempt: the worker has lost its right to the run. */
  lose(): void {
    this.#isLost = true;
    this.#controller.abort();
  }

  #optionsOf({ options, asked, isUnheard }: QueuedRun): ExecuteOptions {
    const ask = (
      kind: Question["kind"],
      { signal, ...request }: { signal: AbortSignal },
    ): Promise<JsonValue> => this.#ask(kind, request, signal);
    return {
      ...options,
      signal: this.#controller.signal,
      // The result comes by itself. A worker that has closed its connection sends nothing more.
      onEvent:
        isUnheard === true
          ? undefined
          : (event) => event.type !== "finished" && this.#sendSoon({ type: "event", event }),
      onCall: (call) => this.#announce(call),
      onElicit: asked.includes("elicit")
        ? async (request) => (await ask("elicit", request)) as ElicitAnswer
        : undefined,
      onApprove: asked.includes("approve")
        ? async (request) => (await ask("approve", request)) as ApprovalAnswer
        : undefined,
      onSample: asked.includes("sample")
        ? async (request) => (await ask("sample", request)) as JsonObject
        : undefined,
    };
  }

  /** A call that could not be recorded is not made. */
  async #announce(call: AnnouncedCall): Promise<void> {
    if (this.#isStopped) throw new CemError("RUN_INTERRUPTED", "The worker stops, so it calls nothing more.");
    this.#calls.push(call);
    if (await this.#send({ type: "call", call })) return;
    throw new CemError("RUN_INTERRUPTED", "Another worker has the run, so this one calls nothing more.");
  }

  async #ask(kind: Question["kind"], request: JsonObject, signal: AbortSignal): Promise<JsonValue> {
    const number = this.#given.attempt * MAX_QUESTIONS + (this.#asked += 1);
    const { promise, resolve, reject } = Promise.withResolvers<JsonValue>();
    // It may end while its question is still on its way.
    promise.catch(() => {});
    this.#questions.set(number, { resolve, reject });
    if (this.#questions.size === 1) this.#settings.onAsking();
    const withdraw = (): void => {
      reject(new Error("The call has ended."));
      this.#send({ type: "withdrawn", number }).catch(() => {});
    };
    signal.addEventListener("abort", withdraw, { once: true });
    try {
      signal.throwIfAborted();
      await this.#send({ type: "question", number, kind, request });
      return await promise;
    } finally {
      signal.removeEventListener("abort", withdraw);
      this.#questions.delete(number);
      if (this.#questions.size === 0) this.#settings.onAsking();
    }
  }

  #hear(reply: RunReply): void {
    if (reply.type === "cancel") this.#controller.abort(reply.isGone === true ? GONE : undefined);
    else if (reply.type === "answer") this.#questions.get(reply.number)?.resolve(reply.value);
    else this.#questions.get(reply.number)?.reject(new Error(reply.reason));
  }

  get #isRepeatable(): boolean {
    return this.#calls.every(({ isRepeatable }) => isRepeatable);
  }

  #interrupt(run: QueuedRun, why: string): Promise<void> {
    const result = unrunResult(run, interrupted(this.#calls, why), this.#calls);
    return this.#end("done", { type: "result", result });
  }

  /** The last word about a run of an owner who was deleted is all that is kept of it, and not for long. */
  async #end(ending: Ending, message?: RunMessage, reason?: string): Promise<void> {
    if (ending === "gone") this.#soon.length = 0;
    await this.#send(message, ending, reason);
  }

  /** Sends what nobody waits for with what is sent next, or after a moment: each message costs the run and all machines. */
  #sendSoon(message: RunMessage): void {
    this.#soon.push(message);
    if (this.#soon.length < MAX_SOON) {
      this.#sendingSoon ??= setTimeout(() => void this.#send().catch(() => {}), SOON_MS);
    } else this.#send().catch(() => {});
  }

  /** @returns whether this attempt still has the right to the run. If not, it ends. */
  async #send(message?: RunMessage, ending: Ending = "", reason?: string): Promise<boolean> {
    clearTimeout(this.#sendingSoon);
    this.#sendingSoon = undefined;
    if (this.#isLost) return false;
    const { streams, runs, worker, location } = this.#settings;
    const contents = [...this.#soon.splice(0), ...(message === undefined ? [] : [message])];
    const entry = contents.length === 0 ? undefined : streams.entryOf(this.#names.messages, contents);
    const send = (): Promise<boolean> => runs.send({ ...this.#given, worker }, ending, entry, reason);
    let isNewest: boolean;
    for (let tries = 1; ; tries += 1) {
      try {
        isNewest = await send();
        break;
      } catch (error) {
        // A server that is full may have room again soon.
        if (tries === MAX_TRIES || message === undefined) throw storeUnavailable(location, error);
        await sleep(TRY_AGAIN_MS);
      }
    }
    if (!isNewest) this.lose();
    return isNewest;
  }
}
