/** Identifies a caller of the gate, for fair queueing. */
interface GateKey {
  /** Owners take turns, and none holds more slots than it leaves free. Absent: its session may hold all slots. */
  owner?: string | undefined;
  /** The sessions of an owner take turns too. */
  session: unknown;
}

/** The callers of one owner. */
interface Owner {
  key: unknown;
  /** Whether it has to leave slots to others. */
  leavesRoom: boolean;
  inside: number;
  /** Functions that admit waiting callers, by session; the session whose turn it is comes first. */
  queues: Map<unknown, (() => void)[]>;
}

/**
 * A fair semaphore: at most `capacity` holders at once. Waiting callers are admitted round-robin by owner, then by
 * session, and first come first served within a session. An owner is admitted while it holds fewer slots than are free:
 * the first gets at most half of them, the second at most a quarter, so that the next one need not wait for another's
 * run to end.
 */
export class FairGate {
  readonly #capacity: number;
  /** Owners with callers inside or waiting; the one whose turn it is comes first. */
  readonly #owners = new Map<unknown, Owner>();
  #inside = 0;
  #waiting = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Number of callers that hold a slot. */
  get inside(): number {
    return this.#inside;
  }

  /** Number of callers that wait for a slot. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Takes a slot that is free; `undefined` when there is none. */
  tryEnter(key: GateKey): (() => void) | undefined {
    if (this.#inside >= this.#capacity) return undefined;
    const owner = this.#ownerOf(key);
    if (this.#mayEnter(owner)) return this.#admit(owner);
    this.#forgetIdle(owner);
    return undefined;
  }

  /**
   * Waits for a slot.
   *
   * @returns The function that frees the slot; further calls of it do nothing.
   * @throws The signal's reason when it aborts before a slot is free.
   */
  enter(key: GateKey, signal?: AbortSignal): Promise<() => void> {
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

  #mayEnter({ inside, leavesRoom }: Owner): boolean {
    const free = this.#capacity - this.#inside;
    return leavesRoom ? inside < free : free > 0;
  }

  #admit(owner: Owner): () => void {
    this.#inside += 1;
    owner.inside += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#inside -= 1;
      owner.inside -= 1;
      for (let next = this.#next(); next !== undefined; next = this.#next()) next();
      this.#forgetIdle(owner);
    };
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
  readonly #most: number;
  readonly #gates = new Map<string, FairGate>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Number of pieces of work that a holder has under way or waiting. */
  countOf(holder: string): number {
    const gate = this.#gates.get(holder);
    return gate === undefined ? 0 : gate.inside + gate.waiting;
  }

  /** Does the work when it is the holder's turn. When the signal aborts first, starts the work at once, so that it can end. */
  async run<Result>(holder: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const gate = this.#gates.get(holder) ?? new FairGate(this.#most);
    this.#gates.set(holder, gate);
    const key = { session: holder };
    const leave = gate.tryEnter(key) ?? (await gate.enter(key, signal).catch(() => undefined));
    try {
      return await work();
    } finally {
      leave?.();
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
