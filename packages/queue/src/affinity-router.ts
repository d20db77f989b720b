import { setTimeout as sleep } from "node:timers/promises";
import { toErrorInfo } from "@cem/core";
import type { ErrorInfo, FairGate } from "@cem/core";
import { errorOf } from "./awaited-run.ts";
import type { Peers } from "./peers.ts";
import type { QueuedRun } from "./protocol.ts";
import type { RunExecutor } from "./run-executor.ts";
import type { ActiveRun } from "./worker-run.ts";

/** How long a worker waits to hear whether another one executes a run, before it does so itself. */
const WORD_MS = 1_000;
/** How long a run waits for a slot that a run of another worker has, before it goes back to the queue. */
const SLOT_MS = 250;
/** The runs of a worker wait for a slot in one line. */
const LINE = { session: "runs" };

/** Messages between workers. */
export type WorkerMessage =
  /** A run of a session whose guest may be there. */
  | { type: "execute"; id: string; from: string; run: QueuedRun }
  | { type: "begun"; id: string }
  | { type: "declined"; id: string }
  /** The worker that routed the run stops, or has lost it. */
  | { type: "stop"; id: string }
  /** Is the run still under way? */
  | { type: "ask"; id: string; from: string }
  | { type: "ended"; id: string; end: End };

/** How an attempt ended: with an answer, so that another worker may repeat the run, or as what can't be set up. */
type End = { isOver: boolean } | { error: ErrorInfo };

interface AffinityRouterSettings {
  /** The worker's name among its peers. */
  name: string;
  peers: Peers<WorkerMessage>;
  executor: RunExecutor;
  /** Lets in the runs that the worker executes at once: those that it took from the queue, and those that were routed to it. */
  slots: FairGate;
  /** The name that keeps where a run's session is warm. `undefined` where it doesn't matter. */
  sessionOf: (run: QueuedRun) => string | undefined;
}

/**
 * Routes the runs of a session to the worker where its guest is warm. The worker that took such a run from the queue stays
 * responsible for it: where the other one declines or is lost, it executes the run itself.
 */
export class AffinityRouter {
  readonly #settings: AffinityRouterSettings;
  /** Runs that other workers execute for this one. */
  readonly #routed = new Map<string, RoutedRun>();
  /** Runs that this worker executes for others. */
  readonly #taken = new Set<string>();
  #isClosing = false;

  constructor(settings: AffinityRouterSettings) {
    this.#settings = settings;
  }

  open(): Promise<void> {
    return this.#settings.peers.join((message) => this.#receive(message));
  }

  /**
   * Executes a run from the queue in a slot, here or on the worker where its session's guest is warm.
   *
   * @param turn - Its turn, which has come.
   * @returns whether it is over. If not, another worker may execute it: this one has no slot, or stops.
   * @throws CemError why it can't be set up, and `OWNER_GONE` where its owner was deleted.
   */
  async execute(id: string, run: QueuedRun, turn: number): Promise<boolean> {
    const { executor, sessionOf, slots } = this.#settings;
    const leave = slots.tryEnter(LINE);
    const beginning = { turn, session: sessionOf(run), isAsked: leave === undefined };
    const first = await executor.execute(id, run, beginning).finally(leave);
    const isOver = typeof first === "object" ? await this.#route(id, run, first.worker) : first;
    if (isOver !== undefined) return isOver;
    const leaveLater = await this.#waitForSlot();
    if (leaveLater === undefined) return false;
    return (await executor.execute(id, run).finally(leaveLater)) === true;
  }

  /** @returns the function that frees the slot; `undefined` where none became free in time. */
  #waitForSlot(): Promise<(() => void) | undefined> {
    return this.#settings.slots.enter(LINE, AbortSignal.timeout(SLOT_MS)).catch(() => undefined);
  }

  /** Accepts no more runs of others. Those in progress go on. */
  stopAccepting(): void {
    this.#isClosing = true;
  }

  /** Leaves the peer group immediately. */
  close(): void {
    void this.#settings.peers.leave();
  }

  /**
   * Has another worker execute a run.
   *
   * @returns whether it is over. `undefined`: it is to be executed here, where it may have been tried before.
   */
  async #route(id: string, run: QueuedRun, worker: string): Promise<boolean | undefined> {
    const { peers, executor, name } = this.#settings;
    const routed = new RoutedRun(() => void peers.send(worker, { type: "stop", id }).catch(() => {}));
    this.#routed.set(id, routed);
    const stopWatching = peers.watch(worker, {
      onAlive: () => peers.send(worker, { type: "ask", id, from: name }),
      onLost: () => routed.end({ isOver: false }),
    });
    try {
      return await executor.during(id, routed, async () => {
        await peers.send(worker, { type: "execute", id, from: name, run });
        const hasBegun = await routed.word(WORD_MS);
        if (hasBegun === false) return undefined;
        const leave = hasBegun === undefined ? await this.#waitForSlot() : undefined;
        if (leave !== undefined) {
          const isOver = await executor.execute(id, run, { isFirst: true }).finally(leave);
          if (typeof isOver === "boolean") return isOver;
        }
        return routed.result();
      });
    } finally {
      stopWatching();
      if (this.#routed.get(id) === routed) this.#routed.delete(id);
    }
  }

  #receive(message: WorkerMessage): void {
    const { id } = message;
    if (message.type === "execute") void this.#executeForPeer(message).catch(() => {});
    else if (message.type === "stop") this.#stop(id);
    else if (message.type === "ask") this.#say(message);
    else if (message.type === "ended") this.#routed.get(id)?.end(message.end);
    else this.#routed.get(id)?.hear(message.type === "begun");
  }

  async #executeForPeer({ id, from, run }: WorkerMessage & { type: "execute" }): Promise<void> {
    const { peers, executor, slots } = this.#settings;
    const leave = this.#isClosing || this.#taken.has(id) ? undefined : slots.tryEnter(LINE);
    if (leave === undefined) {
      return peers.send(from, { type: "declined", id });
    }
    this.#taken.add(id);
    let end: End | undefined;
    try {
      const isOver = await executor.execute(id, run, { isFirst: true }, () => {
        void peers.send(from, { type: "begun", id }).catch(() => {});
      });
      if (typeof isOver === "boolean") end = { isOver };
    } catch (error) {
      end = { error: toErrorInfo(error) };
    }
    this.#taken.delete(id);
    leave();
    await peers.send(from, end === undefined ? { type: "declined", id } : { type: "ended", id, end });
  }

  #stop(id: string): void {
    if (this.#taken.has(id)) this.#settings.executor.stop(id);
  }

  /** The message that a run ended may have been lost. The messages of the run show whether it was answered. */
  #say({ id, from }: WorkerMessage & { type: "ask" }): void {
    if (this.#taken.has(id)) return;
    void this.#settings.peers.send(from, { type: "ended", id, end: { isOver: false } }).catch(() => {});
  }
}

/** A run that another worker executes, as seen by the one that routed it. */
class RoutedRun implements ActiveRun {
  readonly #sendStop: () => void;
  readonly #word = Promise.withResolvers<boolean>();
  readonly #end = Promise.withResolvers<End>();
  #isStopped = false;

  constructor(sendStop: () => void) {
    this.#sendStop = sendStop;
  }

  stop(): void {
    this.#isStopped = true;
    this.#sendStop();
  }

  lose(): void {
    this.#sendStop();
    this.end({ isOver: true });
  }

  hear(hasBegun: boolean): void {
    this.#word.resolve(hasBegun);
  }

  end(end: End): void {
    this.#word.resolve(true);
    this.#end.resolve(end);
  }

  /** Whether the other worker has begun. `undefined`: no word came in time. */
  async word(withinMs: number): Promise<boolean | undefined> {
    const waiting = new AbortController();
    const late = sleep(withinMs, undefined, { signal: waiting.signal }).catch(() => undefined);
    const hasBegun = await Promise.race([this.#word.promise, late]);
    waiting.abort();
    return hasBegun;
  }

  /** Whether it is over. `undefined`: it was given back or its worker was lost, and it goes on here. */
  async result(): Promise<boolean | undefined> {
    const end = await this.#end.promise;
    if ("error" in end) throw errorOf(end.error);
    return end.isOver || this.#isStopped ? end.isOver : undefined;
  }
}
