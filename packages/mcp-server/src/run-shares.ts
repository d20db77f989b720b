interface Share {
  inside: number;
  waiting: Set<() => void>;
}

/**
 * Bounds the runs that one client has under way at once, so that others always find a guest. Further ones wait, first
 * come first served.
 */
export class RunShares {
  readonly #most: number;
  readonly #shares = new Map<string, Share>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Number of runs that a client has under way or waiting. */
  countOf(payer: string): number {
    const share = this.#shares.get(payer);
    return share === undefined ? 0 : share.inside + share.waiting.size;
  }

  /** Does the work when it is the client's turn; at once where the signal aborts before. */
  async run<Result>(payer: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const share = this.#shares.get(payer) ?? { inside: 0, waiting: new Set() };
    this.#shares.set(payer, share);
    if (share.inside < this.#most) share.inside++;
    else await turn(share, signal);
    try {
      return await work();
    } finally {
      this.#leave(payer, share);
    }
  }

  /** Passes the place on to whoever waits longest. */
  #leave(payer: string, share: Share): void {
    const [next] = share.waiting;
    if (next !== undefined && share.inside <= this.#most) {
      share.waiting.delete(next);
      next();
      return;
    }
    share.inside--;
    if (share.inside === 0) this.#shares.delete(payer);
  }
}

/** Waits for a place. A run that is cancelled meanwhile takes one beyond the share, to end at once. */
function turn(share: Share, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const cancel = (): void => {
      if (!share.waiting.delete(enter)) return;
      share.inside++;
      resolve();
    };
    const enter = (): void => {
      signal.removeEventListener("abort", cancel);
      resolve();
    };
    share.waiting.add(enter);
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
  });
}
