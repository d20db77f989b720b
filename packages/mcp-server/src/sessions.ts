import { SESSION_IDLE_MS, SESSION_SWEEP_INTERVAL_MS } from "./limits.ts";

interface Session<T> {
  value: T;
  owner: string;
  used: number;
}

export interface SessionsSettings<T> {
  /** The maximum number of open sessions. */
  capacity: number;
  close: (value: T) => Promise<void>;
  /** Idle timeout in milliseconds. Default: 30 minutes. */
  idleMs?: number | undefined;
  /** Whether a session is in use although nobody asked for it. Such sessions do not time out. */
  isBusy?: ((value: T) => boolean) | undefined;
}

/** Open sessions by id: bounded in number, each with an owner and an idle timeout. */
export class Sessions<T> {
  readonly #sessions = new Map<string, Session<T>>();
  readonly #settings: SessionsSettings<T>;
  readonly #idleMs: number;
  readonly #timer: NodeJS.Timeout;

  constructor(settings: SessionsSettings<T>) {
    this.#settings = settings;
    this.#idleMs = settings.idleMs ?? SESSION_IDLE_MS;
    const interval = Math.min(SESSION_SWEEP_INTERVAL_MS, this.#idleMs);
    this.#timer = setInterval(() => void this.#sweep(), interval).unref();
  }

  get size(): number {
    return this.#sessions.size;
  }

  get isFull(): boolean {
    return this.#sessions.size >= this.#settings.capacity;
  }

  add(id: string, owner: string, value: T): void {
    this.#sessions.set(id, { value, owner, used: performance.now() });
  }

  /** The session of this id, or `undefined` where there is none or it belongs to another owner. */
  get(id: string, owner: string): T | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined || session.owner !== owner) return undefined;
    session.used = performance.now();
    return session.value;
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

  async #sweep(): Promise<void> {
    const before = performance.now() - this.#idleMs;
    for (const [id, { used, value }] of this.#sessions) {
      if (used > before || this.#settings.isBusy?.(value) === true) continue;
      this.#sessions.delete(id);
      await this.#settings.close(value).catch(() => {});
    }
  }
}
