import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import type { QueuedRun } from "./protocol.ts";

/** As long as a guest that waits for the next run of its session stays. */
const KEEP_MS = 300_000;

/** Which worker the guest of a session is warm on. A hint: who follows it has to find out whether the worker is there. */
export class WarmSessions {
  readonly #client: Redis;
  readonly #base: string;
  readonly #worker: string;

  /** @param worker - The name of the worker that asks. */
  constructor(client: Redis, prefix: string, worker: string) {
    this.#client = client;
    this.#base = `${prefix}:warm`;
    this.#worker = worker;
  }

  /**
   * Takes a run's session, unless another worker has it.
   *
   * @returns that one's name. `undefined`: the run is for this worker.
   */
  async take(run: QueuedRun): Promise<string | undefined> {
    const name = this.#nameOf(run);
    if (name === undefined) return undefined;
    const replies = await this.#client
      .multi()
      .set(name, this.#worker, "PX", KEEP_MS, "NX")
      .getex(name, "PX", KEEP_MS)
      .exec();
    const worker = replies?.at(-1)?.[1];
    return typeof worker === "string" && worker !== this.#worker ? worker : undefined;
  }

  /** Takes a run's session from a worker that is gone. */
  async takeOver(run: QueuedRun): Promise<void> {
    const name = this.#nameOf(run);
    if (name !== undefined) await this.#client.set(name, this.#worker, "PX", KEEP_MS);
  }

  #nameOf({ customer, options: { session, singleUse } }: QueuedRun): string | undefined {
    if (session === undefined || singleUse === true) return undefined;
    const digest = createHash("sha256").update(JSON.stringify([customer ?? null, session]));
    return `${this.#base}:${digest.digest("base64url")}`;
  }
}
