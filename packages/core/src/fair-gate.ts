/** Identifies a caller of the gate, for fair queueing. */
interface GateKey {
  /** Owners take turns, and none holds more slots than it leaves free. Absent: its session may hold all slots. */
  owner?: string | undefined;
  /** The sessions of an owner take turns too. */
  session: unknown;
}

/** A slot of a gate. Calling it frees the slot; further calls do nothing. */
export interface Slot {
  (): void;
  /**
   * Called when the holder begins and ends to wait for something else, such as a person's answer, which may overlap. Another
   * caller is let in meanwhile. The holder goes on at once, even if others took all slots.
   */
  setWaiting: (isWaiting: boolean) => void;
}

interface Owner {
  key: unknown;
  leavesRoom: boolean;
  inside: number;
  /** Functions that admit waiting callers, by session; the session whose turn it is comes first. */
  queues: Map<unknown, (() => void)[]>;
}

/**
 * A fair semaphore: at most `capacity` holders at once. Waiting callers are admitted round-robin by owner, then by
 * session, and first come first served within a session. An owner is admitted while it holds fewer slots than are free:
 * the first gets at most half of them, the second at most a quarter, so that the next one need not wait for another's
 * run to end. Holders that wait for something else are replaced by others.
 */
export class FairGate {
  readonly #capacity: number;
  readonly #mostReplaced: number;
  /** Owners with callers inside or waiting; the one whose turn it is comes first. */
  readonly #owners = new Map<unknown, Owner>();
  #inside = 0;
  #waiting = 0;
  #aside = 0;

  /** @param mostReplaced - How many holders that wait are replaced by others: each still keeps its resources. */
  constructor(capacity: number, mostReplaced = 0) {
    this.#capacity = capacity;
    this.#mostReplaced = mostReplaced;
  }

  /** Number of callers that hold a slot. */
  get inside(): number {
    return this.#inside;
  }

  /** Number of callers that wait for a slot. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Number of holders that wait and keep their slots, since as many are replaced as may be. */
  get unreplaced(): number {
    return Math.max(0, this.#aside - this.#mostReplaced);
  }

  /** Takes a slot that is free; `undefined` when there is none. */
  tryEnter(key: GateKey): Slot | undefined {
    if (this.#free <= 0) return undefined;
    const owner = this.#ownerOf(key);
    if (this.#mayEnter(owner)) return this.#admit(owner);
    this.#forgetIdle(owner);
    return undefined;
  }

  /**
   * Waits for a slot.
   *
   * @throws The signal's reason when it aborts before a slot is free.
   */
  enter(key: GateKey, signal?: AbortSignal): Promise<Slot> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const entered = this.tryEnter(key);
    if (entered !== undefined) return Promise.resolve(entered);
    const owner = this.#ownerOf(key);
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#forget(owner, key.session, waiting);
        reject(signal?.reason as Error);
      };
      const waiting = (): void => {
        signal?.removeEventListener("abort", abort);
        resolve(this.#admit(owner));
      };
      signal?.addEventListener("abort", abort, { once: true });
      const queue = owner.queues.get(key.session);
      if (queue === undefined) owner.queues.set(key.session, [waiting]);
      else queue.push(waiting);
      this.#waiting += 1;
    });
  }

  #ownerOf({ owner: name, session }: GateKey): Owner {
    const key = name ?? session;
    const created: Owner = { key, leavesRoom: name !== undefined, inside: 0, queues: new Map() };
    const owner = this.#owners.get(key) ?? created;
    this.#owners.set(key, owner);
    return owner;
  }

  get #free(): number {
    return this.#capacity + Math.min(this.#aside, this.#mostReplaced) - this.#inside;
  }

  #mayEnter({ inside, leavesRoom }: Owner): boolean {
    return leavesRoom ? inside < this.#free : this.#free > 0;
  }

  #admit(owner: Owner): Slot {
    this.#inside += 1;
    owner.inside += 1;
    let left = false;
    let waits = 0;
    const setWaiting = (isWaiting: boolean): void => {
      if (left) return;
      waits += isWaiting ? 1 : -1;
      if (isWaiting && waits === 1) this.#aside += 1;
      if (!isWaiting && waits === 0) this.#aside -= 1;
      this.#admitWaiting();
    };
    const leave = (): void => {
      if (left) return;
      left = true;
      if (waits > 0) this.#aside -= 1;
      this.#inside -= 1;
      owner.inside -= 1;
      this.#admitWaiting();
      this.#forgetIdle(owner);
    };
    return Object.assign(leave, { setWaiting });
  }

  #admitWaiting(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) next();
  }

  /** Dequeues the first caller whose owner's turn it is, and moves its owner and its session to the back. */
  #next(): (() => void) | undefined {
    for (const [key, owner] of this.#owners) {
      if (!this.#mayEnter(owner)) continue;
      for (const [session, queue] of owner.queues) {
        const next = queue.shift();
        owner.queues.delete(session);
        if (queue.length > 0) owner.queues.set(session, queue);
        if (next === undefined) continue;
        this.#owners.delete(key);
        this.#owners.set(key, owner);
        this.#waiting -= 1;
        return next;
      }
    }
    return undefined;
  }

  #forget(owner: Owner, session: unknown, waiting: () => void): void {
    const queue = owner.queues.get(session);
    const index = queue?.indexOf(waiting) ?? -1;
    if (queue === undefined || index === -1) return;
    queue.splice(index, 1);
    this.#waiting -= 1;
    if (queue.length === 0) owner.queues.delete(session);
    this.#forgetIdle(owner);
  }

  #forgetIdle(owner: Owner): void {
    if (owner.inside === 0 && owner.queues.size === 0 && this.#owners.get(owner.key) === owner)
      this.#owners.delete(owner.key);
  }
}

/** Limits the concurrent work of each client or session. Further work waits, first come first served. */
export class Shares {
  readonly #limits: ConstructorParameters<typeof FairGate>;
  readonly #gates = new Map<string, FairGate>();

  /** @param limits - Those of the {@link FairGate} of each holder. */
  constructor(...limits: ConstructorParameters<typeof FairGate>) {
    this.#limits = limits;
  }

  /** Number of pieces of work that a holder has under way or waiting. */
  countOf(holder: string): number {
    const gate = this.#gates.get(holder);
    return gate === undefined ? 0 : gate.inside + gate.waiting;
  }

  /**
   * Does the work when it is the holder's turn. When the signal aborts first, starts the work at once, so that it can end.
   *
   * @param work - Gets its slot, unless the signal has aborted.
   * @param onWait - Called if it is not the holder's turn yet, with the number of its pieces of work that keep their slots
   *   although they wait for something else.
   */
  async run<Result>(
    holder: string,
    signal: AbortSignal,
    work: (slot: Slot | undefined) => Promise<Result>,
    onWait?: (unreplaced: number) => void,
  ): Promise<Result> {
    const gate = this.#gates.get(holder) ?? new FairGate(...this.#limits);
    this.#gates.set(holder, gate);
    const key = { session: holder };
    let slot = gate.tryEnter(key);
    if (slot === undefined) {
      onWait?.(gate.unreplaced);
      slot = await gate.enter(key, signal).catch(() => undefined);
    }
    try {
      return await work(slot);
    } finally {
      slot?.();
      if (this.countOf(holder) === 0) this.#gates.delete(holder);
    }
  }
}

/** Creates a function that runs work sequentially. A failure does not stop the work after it. */
export function createTurns(): <Result>(work: () => Result | Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  };
}
