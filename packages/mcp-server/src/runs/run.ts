import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { CemError, isObject, toErrorInfo } from "@cem/core";
import type { AgentEvent, ExecuteOptions, TaskResult, ToolCallRecord, Redactor } from "@cem/core";
import { isJSONRPCRequest } from "@modelcontextprotocol/server";
import { MAX_LIVE_OUTPUT_CHARACTERS } from "../limits.ts";
import { OpenQuestions, type Questions } from "./questions.ts";

const ID_BYTES = 9;

/** Starts a run: an agent's `executeTask` or `executeCode`. */
export type BeginRun = (options: ExecuteOptions) => Promise<TaskResult>;

export interface RunRequest {
  /** The key of a run that another replica has started. Absent: the run is started here. */
  adopted?: string | undefined;
  kind: "task" | "code";
  /** The client id that may ask for the run later. */
  owner: string;
  /** The quota key of the run. Absent over stdio, which has one client. */
  quotaOwner?: string | undefined;
  begin: BeginRun;
  /** The call's signal. It cancels the run until the run outlasts the call. */
  signal: AbortSignal;
  onEvent?: ((event: AgentEvent) => void) | undefined;
  /** Absent for a run that must not be watched. */
  facts?: RunFacts | undefined;
}

/** A call that waits for a run. */
export type Waiter = Pick<RunRequest, "owner" | "signal" | "onEvent">;

/** The state of a run after a call waited for it. */
export type RunView =
  | { state: "finished"; result: TaskResult }
  | { state: "running"; id: string; output: string; since: Date; waitsFor: string | undefined }
  /** The run waits for answers to its questions. */
  | { state: "asking"; id: string; questions: Questions };

export type RunState = RunView["state"];

/** One active run. */
export class Run {
  readonly id: string;
  /** Whether another replica has started it. */
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
  /** The reason why it has not begun, if it waits. */
  waitsFor: string | undefined;
  finished = false;
  /** Whether it is independent of a call. */
  isLaunched = false;
  idleTimer: NodeJS.Timeout | undefined;

  /**
   * @param watch - Creates the watcher before the run begins.
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
        this.waitsFor = event.type === "waiting" ? describeWait(event) : undefined;
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
      // It references the call's request, which would otherwise be retained as long as the run is kept.
      this.#onEvent = undefined;
      return "finished";
    };
    // Its result does not tell how it ended where it goes on without this server: the client asks another with its id.
    this.#ended = this.result.then(
      ({ error }) => (settle(), error?.details?.["isLeft"] === true ? "running" : "finished"),
      settle,
    );
    if (watcher !== undefined) this.result.then(watcher.onEnd, (error) => watcher.onEnd(undefined, error));
  }

  /** Cancels the run. */
  end(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Hands the run over to another replica if one can continue it, else cancels it. */
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

  /** The result for a client. @throws BrokenRun in place of an exception after tools were called. */
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

/** Describes what a run that has not begun waits for. */
export function describeWait(event: AgentEvent & { type: "waiting" }): string {
  if ("asking" in event)
    return event.asking > 0 ? "behind runs that wait for an answer" : "behind other runs of this client";
  return event.workers === 0 ? "no worker takes runs" : "in the queue";
}

/** A run that ended with an exception after it had called tools. Its client must know of the calls in order not to repeat them. */
export class BrokenRun extends CemError {
  readonly calls: readonly ToolCallRecord[];

  constructor(thrown: unknown, calls: readonly ToolCallRecord[]) {
    const { code, message, details } = toErrorInfo(thrown);
    // Calls that were refused were not made.
    const isSent = calls.some(({ ok }) => ok);
    super(code, message, { details: { ...details, ...(isSent && { isSent }) }, cause: thrown });
    this.calls = calls;
  }
}

/** The key with which a replica rejoins a run: the run's key and its owner. */
export function rejoinKey(key: string, owner: string): string {
  return JSON.stringify([key, owner]);
}

/** Separates a replica's name from the rest of an id. */
const MARK = ".";
const RUN = "run-";
const REPLICA = /^[\da-z]{1,64}$/u;

/** Adds the name of the holding replica to an id. */
export function idAtReplica(replica: string | undefined, id: string): string {
  return replica === undefined ? id : `${replica}${MARK}${id}`;
}

export function runId(replica: string | undefined, id: string): string {
  return `${RUN}${idAtReplica(replica, id)}`;
}

/** The key of a run, which is equal at all replicas. */
export function keyOfRun(id: string): string {
  return withoutReplica(id.startsWith(RUN) ? id.slice(RUN.length) : id);
}

export function withoutReplica(id: string): string {
  const replica = replicaOf(id);
  return replica === undefined ? id : id.slice(replica.length + MARK.length);
}

/** The replica that holds the session, the state or the run of a request. */
export function replicaOfRequest(session: string | null, body: unknown): string | undefined {
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
  /** The owner that may see the run; the client if there are no owners. */
  audience: string;
  session: string | undefined;
  redactor: Redactor | undefined;
}

/** Follows one run. Must not throw, since that would fail the run. */
export interface RunWatcher {
  onEvent: (event: AgentEvent) => void;
  /** Called after a question was opened or answered. */
  onQuestions: () => void;
  /** Called at the end, without a result if the agent threw. */
  onEnd: (result: TaskResult | undefined, error?: unknown) => void;
}
