import type { ConsoleParts } from "@cem/mcp-server/console";
import type { QueueLoad, RunQueue } from "@cem/queue";

const MINUTE_MS = 60_000;
const SHOWN_MINUTES = 60;

/** How the queue kept up during the last hour, measured by this server each minute. */
export class QueueHistory implements NonNullable<ConsoleParts["queue"]> {
  readonly #queue: RunQueue;
  readonly #loads = new Map<number, QueueLoad>();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(queue: RunQueue) {
    this.#queue = queue;
    // While the queue can't be reached, its minutes stay empty.
    const measure = (): void => void this.#measure().catch(() => {});
    this.#timer = setInterval(measure, MINUTE_MS).unref();
    measure();
  }

  async read(): ReturnType<NonNullable<ConsoleParts["queue"]>["read"]> {
    const [now, dead] = await Promise.all([this.#measure(), this.#queue.dead()]);
    const runs = dead.map(({ owner, at, ...run }) => ({ ...run, customer: owner, at: at.toISOString() }));
    const latest = minuteOf(Date.now());
    const minutes = Array.from({ length: SHOWN_MINUTES }, (_, index) => {
      const minute = latest - SHOWN_MINUTES + 1 + index;
      const load = this.#loads.get(minute);
      return {
        at: new Date(minute * MINUTE_MS).toISOString(),
        workers: load?.workers,
        oldestWaitMs: load?.oldestWaitMs,
        ended: load?.endedPerMinute,
        error: dead.filter(({ at }) => minuteOf(at.getTime()) === minute).length,
      };
    });
    return { now: countsOf(now), minutes, runs };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #measure(): Promise<QueueLoad> {
    const load = await this.#queue.load();
    const now = minuteOf(Date.now());
    this.#loads.set(now, load);
    this.#loads.delete(now - SHOWN_MINUTES);
    return load;
  }
}

function countsOf({ dead, ...counts }: QueueLoad) {
  return { ...counts, error: dead };
}

function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}
