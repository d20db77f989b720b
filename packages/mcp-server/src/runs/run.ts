import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { isObject } from "@cem/core";
import type { AgentEvent, ExecuteOptions, TaskResult, ToolCallRecord, Redactor } from "@cem/core";
import { isJSONRPCRequest } from "@modelcontextprotocol/server";
import { MAX_LIVE_OUTPUT_CHARACTERS } from "../limits.ts";
import { BrokenRun } from "../told-anyway.ts";
import { OpenQuestions } from "./questions.ts";
import type { Questions } from "./questions.ts";

const ID_BYTES = 9;

/** Starts a run: an agent's `executeTask` or `executeCode`. */
export type BeginRun = (options: ExecuteOptions) => Promise<TaskResult>;

export interface RunRequest {
  /** The key of a run that another replica of the server has begun. Absent: the run is begun here. */
  adopted?: string | undefined;
  kind: "task" | "code";
  /** The client id that may ask for the run later. */
  owner: string;
  /** The quota key of the run. Absent over stdio, which has one client. */
  quotaOwner?: string | undefined;
  begin: BeginRun;
  /** The call's signal. It ends the run until the run outlasts the call. */
  signal: AbortSignal;
  onEvent?: ((event: AgentEvent) => void) | undefined;
  /** Absent for a run that nobody may watch. */
  facts?: RunFacts | undefined;
}

/** A call that waits for a run. */
export type Waiter = Pick<RunRequest, "owner" | "signal" | "onEvent">;

/** The state of a run after a call waited for it. */
export type RunView =
  | { state: "finished"; result: TaskResult }
  | { state: "running"; id: string; output: string; since: Date; isWaiting: boolean }
  /** The run waits for answers to its questions. */
  | { state: "asking"; id: string; questions: Questions };

export type RunState = RunView["state"];

/** One run under way. */
export class Run {
  readonly id: string;
  /** Whether another replica of the server has begun it. */
  readonly isAdopted: boolean;
  readonly owner: string;
  readonly quotaOwner: string | undefined;
  readonly kind: RunRequest["kind"];
  readonly facts: RunFacts | undefined;
  readonly since = new Date();
  readonly result: Promise<TaskResult>;
  readonly #controller = new AbortController();
  readonly #leaving = new AbortController();
  readonly questions = new OpenQuestions();
  readonly #ended: Promise<RunState>;
  #onEvent: RunRequest["onEvent"];
  readonly #calls: ToolCallRecord[] = [];
  #output = "";
  #outputCharacters = 0;
  /** Whether no worker has taken it from the queue yet. */
  isWaiting = false;
  finished = false;
  /** Whether it belongs to no call. */
  isLaunched = false;
  idleTimer: NodeJS.Timeout | undefined;

  /**
   * @param watch - Begins to watch the run before it begins.
   * @param replica - The replica of the server that holds the run.
   */
  constructor(
    { adopted, owner, quotaOwner, kind, facts, begin, onEvent }: RunRequest,
    watch?: (run: Run) => RunWatcher | undefined,
    replica?: string,
  ) {
    const key = adopted ?? randomBytes(ID_BYTES).toString("base64url");
    this.id = runId(replica, key);
    this.isAdopted = adopted !== undefined;
    this.owner = owner;
    this.quotaOwner = quotaOwner;
    this.kind = kind;
    this.facts = facts;
    const watcher = watch?.(this);
    this.questions.onChange = watcher?.onQuestions;
    this.#onEvent = onEvent;
    const options: ExecuteOptions = {
      runId: this.id,
      owner: facts?.audience,
      signal: this.#controller.signal,
      onEvent: (event) => {
        this.isWaiting = event.type === "waiting";
        if (event.type === "tool-called") this.#calls.push(event.call);
        if (event.type === "output") this.#collect(event.chunk.text);
        this.#onEvent?.(event);
        watcher?.onEvent(event);
      },
      onElicit: this.questions.elicit,
      onSample: this.questions.sample,
      rejoin: { key: rejoinKey(key, owner), leave: this.#leaving.signal },
    };
    this.result = begin(options);
    const settle = (): RunState => {
      this.finished = true;
      // It holds the request of the call, which outlives its session with whoever keeps the run.
      this.#onEvent = undefined;
      return "finished";
    };
    this.#ended = this.result.then(settle, settle);
    if (watcher !== undefined) this.result.then(watcher.onEnd, (error) => watcher.onEnd(undefined, error));
  }

  /** Cancels the run. */
  end(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Leaves the run to another replica of the server where one can go on with it, else cancels it. */
  leave(reason: unknown): void {
    this.#leaving.abort(reason);
    this.end(reason);
  }

  /** Waits until the run ends, asks a question, or `ms` have passed. */
  async waitFor(ms: number, { signal, onEvent }: Partial<Waiter>): Promise<RunState> {
    if (!this.finished) this.#onEvent = onEvent;
    const timer = new AbortController();
    const signals = signal === undefined ? [timer.signal] : [timer.signal, signal];
    const goesOn = (): RunState => "running";
    const timeout = delay(ms, undefined, { signal: AbortSignal.any(signals) }).then(goesOn, goesOn);
    const asking = this.questions.arrival.then((): RunState => "asking");
    try {
      return await Promise.race([this.#ended, asking, timeout]);
    } finally {
      timer.abort();
    }
  }

  /** The result for a client. @throws BrokenRun in place of what was thrown after tools were called. */
  async resultForClient(): Promise<TaskResult> {
    try {
      return await this.result;
    } catch (error) {
      throw this.#calls.length === 0 ? error : new BrokenRun(error, this.#calls);
    }
  }

  /** The output since the last call of this method. */
  takeOutput(): string {
    const text = this.#output;
    this.#output = "";
    return text;
  }

  #collect(text: string): void {
    const room = MAX_LIVE_OUTPUT_CHARACTERS - this.#outputCharacters;
    this.#outputCharacters += text.length;
    if (room > 0) this.#output += text.slice(0, room);
  }
}

/** The rejoin key with which a replica of the server goes on with a run: its key and its owner. */
export function rejoinKey(key: string, owner: string): string {
  return JSON.stringify([key, owner]);
}

/** Between a replica's name and the rest of an id. */
const MARK = ".";
const RUN = "run-";
const REPLICA = /^[\da-z]{1,64}$/u;

/** An id that names the replica of the server which holds the thing. */
export function idAtReplica(replica: string | undefined, id: string): string {
  return replica === undefined ? id : `${replica}${MARK}${id}`;
}

/** The id of a run. */
export function runId(replica: string | undefined, id: string): string {
  return `${RUN}${idAtReplica(replica, id)}`;
}

/** The key of a run, which is the same at all replicas. */
export function keyOfRun(id: string): string {
  return withoutReplica(id.startsWith(RUN) ? id.slice(RUN.length) : id);
}

/** An id without the name of a replica. */
export function withoutReplica(id: string): string {
  const replica = replicaOf(id);
  return replica === undefined ? id : id.slice(replica.length + MARK.length);
}

/** The replica that holds the session, the state or the run that a request is about. */
export function ownerOf(session: string | null, body: unknown): string | undefined {
  if (session !== null) return replicaOf(session);
  if (!isJSONRPCRequest(body)) return undefined;
  const { requestState, arguments: given } = (body.params ?? {}) as Record<string, unknown>;
  if (typeof requestState === "string") return replicaOf(requestState);
  const handle = isObject(given) ? given["handle"] : undefined;
  return typeof handle === "string" && handle.startsWith(RUN)
    ? replicaOf(handle.slice(RUN.length))
    : undefined;
}

function replicaOf(id: string): string | undefined {
  const [replica = "", rest] = id.split(MARK, 2);
  return rest !== undefined && REPLICA.test(replica) ? replica : undefined;
}

/** Facts of a run, passed to watchers before it begins. */
export interface RunFacts {
  /** The task, or the code. */
  input: string;
  /** Owner that may see the run; the client where there are no owners. */
  audience: string;
  session: string | undefined;
  redactor: Redactor | undefined;
}

/** Follows one run. What it throws fails the run, so it must not. */
export interface RunWatcher {
  onEvent: (event: AgentEvent) => void;
  /** Called after a question came or was answered. */
  onQuestions: () => void;
  /** Called at the end, without a result where the agent threw. */
  onEnd: (result: TaskResult | undefined, error?: unknown) => void;
}
