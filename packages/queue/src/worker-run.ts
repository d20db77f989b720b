import { CemError } from "@cem/core";
import type {
  Agent,
  AnnouncedCall,
  ApprovalAnswer,
  ElicitAnswer,
  ErrorInfo,
  ExecuteOptions,
  JsonObject,
  JsonValue,
  TaskResult,
} from "@cem/core";
import type { Redis } from "ioredis";
import { KEEP_GONE_MS, KEEP_RESULTS_MS, KEEP_RUN_MS } from "./connection.ts";
import type { RunNames } from "./connection.ts";
import { interrupted, unrunResult } from "./protocol.ts";
import type { Question, QueuedRun, RunMessage, RunReply } from "./protocol.ts";
import type { Streams } from "./streams.ts";

/** Keeps the questions of an attempt apart from those of an earlier one. */
const MAX_QUESTIONS = 1_000_000;
/** How long an event waits for others to be sent with. */
const SOON_MS = 20;
/** How many of them wait at most. */
const MAX_SOON = 64;

/** The part of an agent that executes runs. */
export type RunningAgent = Pick<Agent, "executeTask" | "executeCode">;

/** Where an attempt is made. */
export interface WorkerRunSettings {
  client: Redis;
  streams: Streams;
  names: RunNames;
  worker: string;
}

/** Whether a run can't go on because its owner was deleted. */
export function isOfGone(error: ErrorInfo | null): boolean {
  return error?.code === "OWNER_GONE";
}

/** A run for which a worker is responsible, here or where it was routed to. */
export interface ActiveRun {
  /** Ends the attempt because its worker stops. What it called decides whether the run may be repeated. */
  stop(): void;
  /** Ends the attempt: the worker has lost its right to the run. */
  lose(): void;
}

interface OpenQuestion {
  resolve: (value: JsonValue) => void;
  reject: (reason: Error) => void;
}

/** One attempt at a run, as its worker sees it. Once another attempt has begun, it sends and calls nothing more. */
export class WorkerRun implements ActiveRun {
  readonly #settings: WorkerRunSettings;
  readonly #attempt: number;
  readonly #earlier: readonly RunMessage[];
  readonly #controller = new AbortController();
  readonly #questions = new Map<number, OpenQuestion>();
  #asked = 0;
  #isLost = false;
  #isStopped = false;
  #isOfGone = false;
  readonly #calls: AnnouncedCall[];
  #stopFollowing: (() => void) | undefined;
  #hasEnded = false;
  readonly #soon: RunMessage[] = [];
  #sendingSoon: NodeJS.Timeout | undefined;

  private constructor(settings: WorkerRunSettings, attempt: number, earlier: readonly RunMessage[]) {
    this.#settings = settings;
    this.#attempt = attempt;
    this.#earlier = earlier;
    this.#calls = earlier.filter((message) => message.type === "call").map(({ call }) => call);
  }

  /** Takes the run from earlier attempts, then reads their messages: after that they send nothing more. */
  static async begin(settings: WorkerRunSettings): Promise<WorkerRun> {
    const { client, streams, names } = settings;
    // They are executed in this order, without waiting for each.
    const [attempt, , earlier] = await Promise.all([
      client.incr(names.attempt),
      client.pexpire(names.attempt, KEEP_RUN_MS),
      streams.read(names.messages),
    ]);
    return new WorkerRun(settings, attempt, earlier as RunMessage[]);
  }

  /** Takes a run that was not tried before. `undefined`: it was. */
  static async beginFirst(settings: WorkerRunSettings): Promise<WorkerRun | undefined> {
    const isFirst = await settings.client.set(settings.names.attempt, "1", "PX", KEEP_RUN_MS, "NX");
    return isFirst === null ? undefined : new WorkerRun(settings, 1, []);
  }

  /** @returns whether the run is over. If not, its worker stops, and another one may repeat it. */
  async execute(run: QueuedRun, openAgent: () => Promise<RunningAgent>): Promise<boolean> {
    // Its worker was lost after the last word.
    if (this.#earlier.some(({ type }) => type === "result")) return true;
    if (!this.#isRepeatable) {
      await this.#interrupt(run, "The worker was lost while it executed the run.");
      return true;
    }
    this.#sendSoon({ type: "started", worker: this.#settings.worker, attempt: this.#attempt });
    this.#followReplies().catch(() => {});
    const agent = await openAgent();
    const options = this.#optionsOf(run);
    const result =
      run.kind === "task"
        ? await agent.executeTask(run.input, options)
        : await agent.executeCode(run.input, options);
    if (!this.#isStopped || result.status === "success") await this.#finish(result);
    else if (this.#isRepeatable) return false;
    else await this.#interrupt(run, "The worker was stopped while it executed the run.");
    return true;
  }

  /** Whether the run ended because its owner was deleted. */
  get isOfGone(): boolean {
    return this.#isOfGone;
  }

  stop(): void {
    this.#isStopped = true;
    this.#controller.abort();
  }

  lose(): void {
    this.#isLost = true;
    this.#controller.abort();
  }

  /** Reports why the run can't be executed. */
  async fail(error: ErrorInfo): Promise<void> {
    if (isOfGone(error)) await this.#endOfGone({ type: "failed", error });
    else await this.#send({ type: "failed", error }, KEEP_RESULTS_MS);
  }

  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#sendingSoon);
    this.#stopFollowing?.();
  }

  #optionsOf({ options, asked }: QueuedRun): ExecuteOptions {
    const ask = (
      kind: Question["kind"],
      { signal, ...request }: { signal: AbortSignal },
    ): Promise<JsonValue> => this.#ask(kind, request, signal);
    return {
      ...options,
      signal: this.#controller.signal,
      // The result comes by itself. A worker that has closed its connection sends nothing more.
      onEvent: (event) => {
        if (event.type !== "finished") this.#sendSoon({ type: "event", event });
      },
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
    throw new CemError(
      "RUN_INTERRUPTED",
      "Another worker has taken the run, so this one calls nothing more.",
    );
  }

  async #ask(kind: Question["kind"], request: JsonObject, signal: AbortSignal): Promise<JsonValue> {
    const number = this.#attempt * MAX_QUESTIONS + (this.#asked += 1);
    const { promise, resolve, reject } = Promise.withResolvers<JsonValue>();
    this.#questions.set(number, { resolve, reject });
    const withdraw = (): void => {
      reject(new Error("The call has ended."));
      this.#send({ type: "withdrawn", number }).catch(() => {});
    };
    signal.addEventListener("abort", withdraw, { once: true });
    try {
      await this.#send({ type: "question", number, kind, request });
      return await promise;
    } finally {
      signal.removeEventListener("abort", withdraw);
      this.#questions.delete(number);
    }
  }

  async #followReplies(): Promise<void> {
    const { streams, names } = this.#settings;
    const stop = await streams.follow(
      names.replies,
      (content) => {
        const reply = content as RunReply;
        if (reply.type === "cancel") this.#controller.abort();
        else if (reply.type === "answer") this.#questions.get(reply.number)?.resolve(reply.value);
        else this.#questions.get(reply.number)?.reject(new Error(reply.reason));
      },
      () => {},
    );
    if (this.#hasEnded) stop();
    else this.#stopFollowing = stop;
  }

  get #isRepeatable(): boolean {
    return this.#calls.every(({ isRepeatable }) => isRepeatable);
  }

  #interrupt(run: QueuedRun, why: string): Promise<void> {
    return this.#finish(unrunResult(run, interrupted(this.#calls, why), this.#calls));
  }

  async #finish(result: TaskResult): Promise<void> {
    if (isOfGone(result.error))
      await this.#endOfGone({ type: "result", result: { ...result, code: "", output: "", value: null } });
    else await this.#send({ type: "result", result }, KEEP_RESULTS_MS);
  }

  /** The last word about a run of an owner who was deleted is all that is kept of it, and not for long. */
  async #endOfGone(message: RunMessage): Promise<void> {
    const { client, names } = this.#settings;
    this.#isOfGone = true;
    this.#soon.length = 0;
    await client.xtrim(names.messages, "MAXLEN", 0);
    await this.#send(message, KEEP_GONE_MS);
    await client.del(names.replies);
    await client.pexpire(names.attempt, KEEP_GONE_MS);
  }

  /** Sends what nobody waits for with what is sent next, or after a moment: each message costs the run and all machines. */
  #sendSoon(message: RunMessage): void {
    this.#soon.push(message);
    if (this.#soon.length < MAX_SOON) {
      this.#sendingSoon ??= setTimeout(() => void this.#send().catch(() => {}), SOON_MS);
    } else this.#send().catch(() => {});
  }

  /** @returns whether this attempt still has the right to the run. If not, it ends. */
  async #send(message?: RunMessage, keepMs?: number): Promise<boolean> {
    clearTimeout(this.#sendingSoon);
    this.#sendingSoon = undefined;
    if (this.#isLost) return false;
    const { streams, names } = this.#settings;
    const contents = [...this.#soon.splice(0), ...(message === undefined ? [] : [message])];
    const isNewest = await streams.append(names.messages, {
      contents,
      keepMs,
      while: { name: names.attempt, attempt: this.#attempt },
    });
    if (!isNewest) this.lose();
    return isNewest;
  }
}
