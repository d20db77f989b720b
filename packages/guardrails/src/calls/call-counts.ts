import { createHash } from "node:crypto";
import { createTurns, parseJson, updateStored } from "@cem/core";
import type { Store } from "@cem/core";

/** How many calls may be made in a time. */
export interface Rate {
  calls: number;
  /** In seconds. */
  per: number;
}

/** Calls in one period, which begins with the first of them. */
interface Period {
  endsMs: number;
  calls: number;
}

/** Counts calls by keys. Guards that share one share the calls of their limits. */
export interface CallCounts {
  /**
   * Counts a call, or takes one back.
   *
   * @returns how long to wait where all calls of the period are made, in milliseconds. `undefined`: it is counted.
   */
  add(key: string, rate: Rate, by: 1 | -1): Promise<number | undefined>;
}

const MS_PER_SECOND = 1_000;
const MIN_SWEPT = 1_000;
const FOLDER = "limits";

/**
 * Counts calls in this process, or in a store: for all machines together, by the store's clock.
 *
 * @param store - Absent: in this process.
 */
export function countCalls(store?: Store): CallCounts {
  return store === undefined ? countHere() : countTogether(store);
}

function countHere(): CallCounts {
  const periods = new Map<string, Period>();
  let sweptAt = MIN_SWEPT;
  return {
    async add(key, rate, by) {
      const nowMs = performance.now();
      const period = counted(periods.get(key), rate, by, nowMs);
      if (typeof period === "number") return period;
      periods.set(key, period);
      if (periods.size < sweptAt) return undefined;
      for (const [one, { endsMs }] of periods) if (endsMs <= nowMs) periods.delete(one);
      sweptAt = Math.max(MIN_SWEPT, 2 * periods.size);
      return undefined;
    },
  };
}

function countTogether(store: Store): CallCounts {
  /** Calls of one process wait for each other, where they would only overtake each other. */
  const inTurn = new Map<string, { turns: ReturnType<typeof createTurns>; waiting: number }>();
  return {
    async add(key, rate, by) {
      const own = inTurn.get(key) ?? { turns: createTurns(), waiting: 0 };
      inTurn.set(key, own);
      own.waiting += 1;
      // Hashed, since counts outlive a customer who is deleted, and must not name one.
      const place = [FOLDER, createHash("sha256").update(key).digest("hex")];
      try {
        return await own.turns(async () => {
          const nowMs = await store.now();
          let isFirst = false;
          const waitMs = await updateStored(store, place, (found) => {
            isFirst = found === undefined;
            const period = counted(periodOf(found), rate, by, nowMs);
            if (typeof period === "number") return { result: period };
            const value = Buffer.from(JSON.stringify(period));
            return { value, result: undefined, expiresInMs: Math.ceil(period.endsMs - nowMs) };
          });
          // Redis has the names of what has expired until it lists them: those up to the next count.
          if (isFirst) await store.list([FOLDER], { after: place, limit: 1 });
          return waitMs;
        });
      } finally {
        own.waiting -= 1;
        if (own.waiting === 0) inTurn.delete(key);
      }
    },
  };
}

/** A period with one call more or less, or the time to wait. */
function counted(found: Period | undefined, { calls, per }: Rate, by: 1 | -1, nowMs: number) {
  const latestMs = nowMs + per * MS_PER_SECOND;
  const isUnderWay = found !== undefined && nowMs < found.endsMs;
  // A clock that went back must not make a period longer.
  const endsMs = isUnderWay ? Math.min(found.endsMs, latestMs) : latestMs;
  const made = Math.max(0, (isUnderWay ? found.calls : 0) + by);
  return made > calls ? endsMs - nowMs : { endsMs, calls: made };
}

/** Reads a stored period; a value that is no count, or was written otherwise, counts as none. */
function periodOf(stored: Uint8Array | undefined): Period | undefined {
  const period = parseJson(stored ?? "null") as Period | null | undefined;
  return [period?.endsMs, period?.calls].every(Number.isFinite) ? (period ?? undefined) : undefined;
}
