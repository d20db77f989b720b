import { setTimeout as sleep } from "node:timers/promises";
import { toErrorInfo } from "@cem/core";
import type { ErrorInfo } from "@cem/core";
import { errorOf } from "./awaited-run.ts";
import type { UnderWay } from "./carried-run.ts";
import type { Carrying } from "./carrying.ts";
import type { Peers } from "./peers.ts";
import type { QueuedRun } from "./protocol.ts";
import type { Slots } from "./slots.ts";
import type { WarmSessions } from "./warm-sessions.ts";

/** How long a worker waits to hear whether another carries out a run, before it tries to do so itself. */
const WORD_MS = 1_000;
/** How long a run waits for a slot that a run of another worker has, before it goes back to the queue. */
const SLOT_MS = 250;

/** What workers tell each other. */
export type WorkerMessage =
  /** A run of a session whose guest may be there. */
  | { type: "carry"; id: string; from: string; run: QueuedRun }
  | { type: "begun"; id: string }
  | { type: "declined"; id: string }
  /** The worker that handed the run over stops, or has lost the run. */
  | { type: "stop"; id: string }
  /** Is the run still under way? */
  | { type: "ask"; id: string; from: string }
  | { type: "ended"; id: string; end: End };

/** How an attempt ended: with an answer, so that another worker may repeat the run, or as what can't be set up. */
type End = { isOver: boolean } | { error: ErrorInfo };

interface HandOverSettings {
  /** The worker's name among its peers. */
  name: string;
  peers: Peers<WorkerMessage>;
  sessions: WarmSessions;
  carrying: Carrying;
  slots: Slots;
  /** Whether runs of one session are carried out by one worker. */
  isEnabled: boolean;
}

/**
 * Runs of a session, carried out where its guest is warm. The worker that took such a run from the queue stays responsible for
 * it: it hands the run over and waits, and where the other one declines or is lost, it goes on itself.
 */
export class AffinityRouter {
  readonly #settings: HandOverSettings;
  /** Runs that others carry out. */
  readonly #handed = new Map<string, HandedRun>();
  /** Runs of others. */
  readonly #taken = new Set<string>();
  #isClosing = false;

  constructor(settings: HandOverSettings) {
    this.#settings = settings;
  }

  open(): Promise<void> {
    return this.#settings.peers.join((message) => this.#receive(message));
  }

  /**
   * Carries out a run here, in a slot.
   *
   * @returns whether it is over. If not, another worker may carry it out: this one has no slot, or stops.
   */
  async carryOut(id: string, run: QueuedRun): Promise<boolean> {
    const { carrying, slots } = this.#settings;
    if (!(await slots.take(SLOT_MS))) return false;
    return carrying.carryOut(id, run).finally(() => slots.release());
  }

  /** Takes no more runs of others. Those under way go on. */
  stopTaking(): void {
    this.#isClosing = true;
  }

  /** Is lost to its peers at once. */
  close(): void {
    void this.#settings.peers.leave();
  }

  /**
   * Has a run carried out where its session's guest is warm, if that is at another worker.
   *
   * @returns whether it is over. `undefined`: it is to be carried out here, where it may have been tried before.
   * @throws CemError why it can't be set up there, and `CUSTOMER_GONE` where its customer was deleted.
   */
  async tryToHand(id: string, run: QueuedRun): Promise<boolean | undefined> {
    const { peers, sessions, carrying, slots, name, isEnabled } = this.#settings;
    const worker = isEnabled ? await sessions.take(run) : undefined;
    if (worker === undefined) return undefined;
    if (!(await peers.lives(worker))) {
      await sessions.takeOver(run);
      return undefined;
    }
    const handed = new HandedRun(() => void peers.send(worker, { type: "stop", id }).catch(() => {}));
    this.#handed.set(id, handed);
    const stopWatching = peers.watch(worker, {
      onAlive: () => peers.send(worker, { type: "ask", id, from: name }),
      onLost: () => handed.end({ isOver: false }),
    });
    try {
      return await carrying.during(id, handed, async () => {
        await peers.send(worker, { type: "carry", id, from: name, run });
        const hasBegun = await handed.word(WORD_MS);
        if (hasBegun === false) return undefined;
        if (hasBegun === undefined && (await slots.take(SLOT_MS))) {
          const isOver = await carrying.carryOutFirst(id, run).finally(() => slots.release());
          if (isOver !== undefined) return isOver;
        }
        return handed.result();
      });
    } finally {
      stopWatching();
      if (this.#handed.get(id) === handed) this.#handed.delete(id);
    }
  }

  #receive(message: WorkerMessage): void {
    const { id } = message;
    if (message.type === "carry") void this.#carry(message).catch(() => {});
    else if (message.type === "stop") this.#stop(id);
    else if (message.type === "ask") this.#say(message);
    else if (message.type === "ended") this.#handed.get(id)?.end(message.end);
    else this.#handed.get(id)?.hear(message.type === "begun");
  }

  async #carry({ id, from, run }: WorkerMessage & { type: "carry" }): Promise<void> {
    const { peers, carrying, slots } = this.#settings;
    if (this.#isClosing || this.#taken.has(id) || !slots.tryTake()) {
      return peers.send(from, { type: "declined", id });
    }
    this.#taken.add(id);
    let end: End | undefined;
    try {
      const isOver = await carrying.carryOutFirst(id, run, () => {
        void peers.send(from, { type: "begun", id }).catch(() => {});
      });
      if (isOver !== undefined) end = { isOver };
    } catch (error) {
      end = { error: toErrorInfo(error) };
    }
    this.#taken.delete(id);
    slots.release();
    await peers.send(from, end === undefined ? { type: "declined", id } : { type: "ended", id, end });
  }

  #stop(id: string): void {
    if (this.#taken.has(id)) this.#settings.carrying.stop(id);
  }

  /** The word that a run ended may have been lost. What the run told shows whether it was answered. */
  #say({ id, from }: WorkerMessage & { type: "ask" }): void {
    if (this.#taken.has(id)) return;
    void this.#settings.peers.send(from, { type: "ended", id, end: { isOver: false } }).catch(() => {});
  }
}

/** A run that another worker carries out, as the one that handed it over sees it. */
class HandedRun implements UnderWay {
  readonly #tellToStop: () => void;
  readonly #word = Promise.withResolvers<boolean>();
  readonly #end = Promise.withResolvers<End>();
  #isStopped = false;

  constructor(tellToStop: () => void) {
    this.#tellToStop = tellToStop;
  }

  stop(): void {
    this.#isStopped = true;
    this.#tellToStop();
  }

  lose(): void {
    this.#tellToStop();
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
