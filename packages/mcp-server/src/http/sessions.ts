import { SESSION_IDLE_MS, SESSION_MIN_IDLE_MS, SESSION_SHARE, SESSION_SWEEP_INTERVAL_MS } from "../limits.ts";

interface Session<T> {
  value: T;
  owner: string;
  /** The client whose quota of sessions it uses. */
  quotaOwner: string;
  used: number;
  /** Whether a tool was called in it. */
  worked: boolean;
  /** Number of requests in progress. */
  requests: number;
  /** Number of open event streams for server-initiated messages. */
  streams: number;
}

export interface SessionsSettings<T> {
  /** The maximum number of open sessions. */
  capacity: number;
  /** The maximum number per client. Default: half of the capacity. */
  share?: number | undefined;
  close: (value: T) => Promise<void>;
  /** Idle timeout in milliseconds. Default: 30 minutes. */
  idleMs?: number | undefined;
  /** Minimum idle time before a session in which a tool was called is closed, in milliseconds. Default: 10 seconds. */
  minIdleMs?: number | undefined;
}

/**
 * Open sessions by id: bounded in number, each with an owner and an idle timeout. If there is no slot for a new one, the
 * longest-idle one is closed: first those without tool calls and listeners, then those without listeners, then the others.
 */
export class Sessions<T> {
  readonly #sessions = new Map<string, Session<T>>();
  readonly #settings: SessionsSettings<T>;
  readonly #share: number;
  readonly #idleMs: number;
  readonly #timer: NodeJS.Timeout;
  /** Reserved slots that are not filled yet. */
  readonly #reserved = new Set<{ quotaOwner: string }>();

  constructor(settings: SessionsSettings<T>) {
    this.#settings = settings;
    this.#share = settings.share ?? Math.ceil(settings.capacity * SESSION_SHARE);
    this.#idleMs = settings.idleMs ?? SESSION_IDLE_MS;
    const interval = Math.min(SESSION_SWEEP_INTERVAL_MS, this.#idleMs);
    this.#timer = setInterval(() => void this.#sweep(), interval).unref();
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Whether a new client would be refused a session. */
  get isFull(): boolean {
    return this.#taken().length >= this.#settings.capacity && this.#longestIdle() === undefined;
  }

  /** Reserves a slot for a new session, to be filled or released. Closes an idle session if none is left. */
  reserve(quotaOwner: string) {
    const taken = this.#taken();
    const isAll = taken.length >= this.#settings.capacity;
    const hasShare = taken.filter((one) => one.quotaOwner === quotaOwner).length >= this.#share;
    if (hasShare && !this.#makeRoom(quotaOwner)) return isAll ? "full" : "share";
    if (!hasShare && isAll && !this.#makeRoom()) return "full";
    const place = { quotaOwner };
    this.#reserved.add(place);
    return {
      fill: (id: string, owner: string, value: T): void => {
        if (!this.#reserved.delete(place)) return;
        const used = performance.now();
        this.#sessions.set(id, { ...place, value, owner, used, worked: false, requests: 0, streams: 0 });
      },
      /** Does nothing once the slot is filled. */
      release: () => void this.#reserved.delete(place),
    };
  }

  /** The session with this id, or `undefined` if there is none or it belongs to another owner. */
  get(id: string, owner: string): T | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined || session.owner !== owner) return undefined;
    session.used = performance.now();
    return session.value;
  }

  /** Keeps a session from being closed as idle, until the returned function is called. */
  hold(id: string, use: "request" | "stream"): () => void {
    const session = this.#sessions.get(id);
    if (session === undefined) return () => {};
    const uses = use === "request" ? "requests" : "streams";
    session[uses]++;
    let isHeld = true;
    return () => {
      if (isHeld) session[uses]--;
      isHeld = false;
      session.used = performance.now();
    };
  }

  markWorked(id: string): void {
    const session = this.#sessions.get(id);
    if (session !== undefined) session.worked = true;
  }

  delete(id: string): void {
    this.#sessions.delete(id);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    const all = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.allSettled(all.map(({ value }) => this.#settings.close(value)));
  }

  #taken(): { quotaOwner: string }[] {
    return [...this.#reserved, ...this.#sessions.values()];
  }

  #makeRoom(quotaOwner?: string): boolean {
    const id = this.#longestIdle(quotaOwner);
    if (id === undefined) return false;
    void this.#end(id);
    return true;
  }

  #longestIdle(quotaOwner?: string): string | undefined {
    const before = performance.now() - (this.#settings.minIdleMs ?? SESSION_MIN_IDLE_MS);
    let found: { id: string; rank: number; used: number } | undefined;
    for (const [id, session] of this.#sessions) {
      const { requests, streams, used, worked } = session;
      if (requests > 0 || (quotaOwner !== undefined && session.quotaOwner !== quotaOwner)) continue;
      if ((worked || streams > 0) && used > before) continue;
      const rank = (worked ? 1 : 0) + (streams > 0 ? 2 : 0);
      const isBetter = found === undefined || rank < found.rank || (rank === found.rank && used < found.used);
      if (isBetter) found = { id, rank, used };
    }
    return found?.id;
  }

  async #end(id: string): Promise<void> {
    const value = this.#sessions.get(id)?.value;
    this.delete(id);
    if (value !== undefined) await this.#settings.close(value).catch(() => {});
  }

  async #sweep(): Promise<void> {
    const before = performance.now() - this.#idleMs;
    for (const [id, { used, requests, streams }] of this.#sessions) {
      if (used <= before && requests + streams === 0) await this.#end(id);
    }
  }
}

/** The message for a client that is refused a session, with the limits. */
export function refusalText(refused: "full" | "share", maxSessions: number, what = "sessions"): string {
  return refused === "full"
    ? `${maxSessions} ${what} are open and in use, which is the maximum. Try again later.`
    : `This client, or its customer, already uses its share of the ${maxSessions} ${what}. Close some, or try again later.`;
}
