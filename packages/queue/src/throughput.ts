import type { Redis } from "ioredis";

const MINUTE_MS = 60_000;
const MINUTE_SECONDS = 60;
const KEPT_SECONDS = 180;
const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 600_000;

/** Counts the runs that all workers carry out, by minutes of the server: clocks of machines differ. */
export class Throughput {
  readonly #client: Redis;
  readonly #prefix: string;

  constructor(client: Redis, prefix: string) {
    this.#client = client;
    this.#prefix = `${prefix}:served:`;
  }

  async count(): Promise<void> {
    const name = this.#nameOf(await this.#minute());
    await this.#client.multi().incr(name).expire(name, KEPT_SECONDS).exec();
  }

  /** How long so many runs will probably take, in milliseconds. */
  async waitFor(runs: number): Promise<number> {
    const minute = await this.#minute();
    const counts = await this.#client.mget(this.#nameOf(minute), this.#nameOf(minute - 1));
    const served = Math.max(1, ...counts.map(Number));
    return Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, Math.round((runs / served) * MINUTE_MS)));
  }

  async #minute(): Promise<number> {
    const [seconds] = await this.#client.time();
    return Math.floor(Number(seconds) / MINUTE_SECONDS);
  }

  #nameOf(minute: number): string {
    return `${this.#prefix}${minute}`;
  }
}
