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
import { KEEP_GONE_MS, KEEP_RESULTS_MS, KEEP_RUN_MS, namesOf } from "./connection.ts";
import type { RunNames } from "./connection.ts";
import { inboxOf, KEEP_SESSION_MS, signOf } from "./peers.ts";
import { interrupted, unrunResult } from "./protocol.ts";
import type { Question, QueuedRun, RunMessage, RunReply } from "./protocol.ts";
import type { Streams } from "./streams.ts";
import { endedRuns, servedTurn } from "./turns.ts";

/** Keeps the questions of an attempt apart from those of an earlier one. */
const MAX_QUESTIONS = 1_000_000;
/** How long an event waits for others to be sent with. */
const SOON_MS = 100;
/** How many of them wait at most. */
const MAX_SOON = 64;

/** The part of an agent that executes runs. */
export type RunningAgent = Pick<Agent, "executeTask" | "executeCode">;

/** Where attempts are made. */
export interface WorkerRunSettings {
  client: Redis;
  streams: Streams;
  prefix: string;
  /** The worker's name, as hosts are told. */
  worker: string;
  /** The prefix of the names of workers, and this one's own name among them. */
  peers: { base: string; name: string };
}

/** How an attempt begins. */
export interface Beginning {
  /** The run's turn, if it comes from the queue. */
  turn?: number | undefined;
  /** The name of its session's warm worker. The run is not begun where that is another one. */
  session?: string | undefined;
  /** Begins a run only if it was not tried before. */
  isFirst?: boolean | undefined;
  /** Only asks where its session is warm. */
  isAsked?: boolean | undefined;
}

/**
 * Notes that a run's turn came, looks where its session is warm, and takes it from earlier attempts, which send nothing more
 * afterwards. KEYS: the attempt, messages, replies, the turn that is served, the session. ARGV: this worker's name, its inbox, how
 * long an attempt is kept, the turn, how long a session is kept, the name of another worker's sign of life with `*` for its name,
 * how it begins. Returns the number of the attempt, how much there is to be read, and the other worker.
 */
const BEGIN = `
  if ARGV[4] ~= "" and tonumber(redis.call("GET", KEYS[4]) or "0") < tonumber(ARGV[4]) then
    redis.call("SET", KEYS[4], ARGV[4])
  end
  if KEYS[5] then
    local warm = redis.call("GET", KEYS[5])
    local isElsewhere = warm and warm ~= ARGV[1]
    if isElsewhere and redis.call("EXISTS", (string.gsub(ARGV[6], "%*", warm))) == 1 then
      redis.call("PEXPIRE", KEYS[5], ARGV[5])
      return {0, 0, warm}
    end
    redis.call("SET", KEYS[5], ARGV[1], "PX", ARGV[5])
  end
  local found = redis.call("GET", KEYS[1])
  if ARGV[7] == "asked" or (ARGV[7] == "first" and found) then return {0, 0} end
  local attempt = (tonumber(string.match(found or "", "^%d+")) or 0) + 1
  redis.call("SET", KEYS[1], attempt .. " " .. ARGV[2], "PX", ARGV[3])
  return {attempt, redis.call("XLEN", KEYS[2]) + redis.call("XLEN", KEYS[3])}
`;

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
  readonly #names: RunNames;
  #attempt = 0;
  #earlier: readonly RunMessage[] = [];
  readonly #controller = new AbortController();
  readonly #questions = new Map<number, OpenQuestion>();
  #asked = 0;
  #isLost = false;
  #isStopped = false;
  #isOfGone = false;
  #calls: AnnouncedCall[] = [];
  readonly #replies: { look: () => void; stop: () => void };
  readonly #soon: RunMessage[] = [];
  #sendingSoon: NodeJS.Timeout | undefined;

  constructor(settings: WorkerRunSettings, id: string) {
    this.#settings = settings;
    this.#names = namesOf(settings.prefix, id);
    // Before it begins, so that no reply passes by unheard.
    this.#replies = settings.streams.listen(
      this.#names.replies,
      (reply) => this.#hear(reply as RunReply),
      () => {},
    );
  }

  /**
   * Takes the run from earlier attempts, and reads their messages.
   *
   * @returns `begun`, or the worker to which it goes. `undefined`: it was only asked, or is not the first attempt.
   */
  async begin({ turn, session, isFirst = false, isAsked = false }: Beginning = {}): Promise<
    "begun" | { worker: string } | undefined
  > {
    const { client, streams, prefix, peers } = this.#settings;
    const { attempt, messages, replies } = this.#names;
    const keys = [
      attempt,
      messages,
      replies,
      servedTurn(prefix),
      ...(session === undefined ? [] : [session]),
    ];
    const [number, length, worker] = (await client.eval(
      BEGIN,
      keys.length,
      ...keys,
      peers.name,
      inboxOf(peers.base, peers.name),
      KEEP_RUN_MS,
      turn ?? "",
      KEEP_SESSION_MS,
      signOf(peers.base, "*"),
      isAsked ? "asked" : isFirst ? "first" : "",
    )) as [number, number, string?];
    if (number === 0) return worker === undefined ? undefined : { worker };
    this.#attempt = number;
    if (length > 0) {
      this.#earlier = (await streams.read(messages)) as RunMessage[];
      this.#calls = this.#earlier.filter((message) => message.type === "call").map(({ call }) => call);
      this.#replies.look();
    }
    return "begun";
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
    clearTimeout(this.#sendingSoon);
    this.#replies.stop();
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

  #hear(reply: RunReply): void {
    if (reply.type === "cancel") this.#controller.abort();
    else if (reply.type === "answer") this.#questions.get(reply.number)?.resolve(reply.value);
    else this.#questions.get(reply.number)?.reject(new Error(reply.reason));
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
    const { client } = this.#settings;
    const { attempt, messages, replies } = this.#names;
    this.#isOfGone = true;
    this.#soon.length = 0;
    await client.xtrim(messages, "MAXLEN", 0);
    await this.#send(message, KEEP_GONE_MS);
    await client.del(replies);
    await client.pexpire(attempt, KEEP_GONE_MS);
  }

  /** Sends what nobody waits for with what is sent next, or after a moment: each message costs the run and all machines. */
  #sendSoon(message: RunMessage): void {
    this.#soon.push(message);
    if (this.#soon.length < MAX_SOON) {
      this.#sendingSoon ??= setTimeout(() => void this.#send().catch(() => {}), SOON_MS);
    } else this.#send().catch(() => {});
  }

  /**
   * @param keepMs - How long the last message is kept. The run is over then.
   * @returns whether this attempt still has the right to the run. If not, it ends.
   */
  async #send(message?: RunMessage, keepMs?: number): Promise<boolean> {
    clearTimeout(this.#sendingSoon);
    this.#sendingSoon = undefined;
    if (this.#isLost) return false;
    const { streams, prefix, peers } = this.#settings;
    const contents = [...this.#soon.splice(0), ...(message === undefined ? [] : [message])];
    const isNewest = await streams.append(this.#names.messages, {
      contents,
      keepMs,
      while: {
        name: this.#names.attempt,
        attempt: `${this.#attempt} ${inboxOf(peers.base, peers.name)}`,
      },
      countedIn: keepMs === undefined ? undefined : endedRuns(prefix),
    });
    if (!isNewest) this.lose();
    return isNewest;
  }
}
