import { hash } from "node:crypto";
import { createTurns, MS_PER_SECOND, parseJson, updateStored, type Store } from "@cem/core";

/** The number of calls allowed in a period. */
export interface Rate {
  calls: number;
  /** In seconds. */
  per: number;
}

/** Calls in one period, which begins with the first call. */
interface Period {
  endsMs: number;
  calls: number;
}

/** Counts calls by key. Guards that share a counter share their limits. */
export interface CallCounts {
  /**
   * Counts a call, or takes one back.
   *
   * @returns how long to wait if the period's limit is reached, in milliseconds. `undefined`: the call was counted.
   */
  add(key: string, rate: Rate, by: 1 | -1): Promise<number | undefined>;
}

const MIN_SWEPT = 1_000;
const FOLDER = "limits";

/** Counts calls in this process, or in a store across all machines, by the store's clock. */
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
  /** Serializes updates of one process, which would otherwise conflict. */
  const inTurn = new Map<string, { turns: ReturnType<typeof createTurns>; waiting: number }>();
  return {
    async add(key, rate, by) {
      const own = inTurn.get(key) ?? { turns: createTurns(), waiting: 0 };
      inTurn.set(key, own);
      own.waiting += 1;
      // Hashed, since counts outlive a deleted customer and must not identify it.
      const place = [FOLDER, hash("sha256", key)];
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
          // Redis keeps names of expired entries until they are listed, so this lists those up to the next count.
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

/** The period with one call more or less, or the time to wait. */
function counted(found: Period | undefined, { calls, per }: Rate, by: 1 | -1, nowMs: number) {
  const latestMs = nowMs + per * MS_PER_SECOND;
  const isUnderWay = found !== undefined && nowMs < found.endsMs;
  // A clock that was set back must not extend a period.
  const endsMs = isUnderWay ? Math.min(found.endsMs, latestMs) : latestMs;
  const made = Math.max(0, (isUnderWay ? found.calls : 0) + by);
  return made > calls ? endsMs - nowMs : { endsMs, calls: made };
}

/** Parses a stored period. An invalid value counts as none. */
function periodOf(stored: Uint8Array | undefined): Period | undefined {
  const period = parseJson(stored ?? "null") as Period | null | undefined;
  return [period?.endsMs, period?.calls].every(Number.isFinite) ? (period ?? undefined) : undefined;
}
