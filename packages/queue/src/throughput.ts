import type { Redis } from "ioredis";

const MINUTE_MS = 60_000;
const KEPT_SECONDS = 180;
const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 600_000;

/** Counts the runs that all workers carry out, by minutes of the host that counts. */
export class Throughput {
  readonly #client: Redis;
  readonly #prefix: string;

  constructor(client: Redis, prefix: string) {
    this.#client = client;
    this.#prefix = `${prefix}:served:`;
  }

  async count(): Promise<void> {
    const name = this.#nameOf(Date.now());
    await this.#client.multi().incr(name).expire(name, KEPT_SECONDS).exec();
  }

  /** How long so many runs will probably take, in milliseconds. */
  async waitFor(runs: number): Promise<number> {
    const now = Date.now();
    const counts = await this.#client.mget(this.#nameOf(now), this.#nameOf(now - MINUTE_MS));
    const served = Math.max(1, ...counts.map(Number));
    return Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, Math.round((runs / served) * MINUTE_MS)));
  }

  #nameOf(time: number): string {
    return `${this.#prefix}${Math.floor(time / MINUTE_MS)}`;
  }
}
