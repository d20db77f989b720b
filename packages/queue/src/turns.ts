import type { Redis } from "ioredis";
import { QUEUE } from "./connection.ts";

/** The largest priority that BullMQ takes. The lowest is served first. */
const MAX_PRIORITY = 2_097_152;

/** From here on turns begin anew as soon as nothing waits. Below it they grow by what the busiest owner takes. */
const RENEW_AT = MAX_PRIORITY / 2;

/**
 * Takes a turn: start-time fair queueing. An owner's runs follow each other; an owner who comes anew begins where the
 * service stands. Where too many wait it is refused: an owner may have as many as it leaves room for.
 * KEYS: what stands, the owners' last turns, the runs that wait, those of them that were given back. ARGV: owner, from where
 * on turns begin anew, how many may wait, whether the owner is one of several.
 */
const TAKE = `
  local stands = tonumber(redis.call("GET", KEYS[1]) or "0")
  if stands >= tonumber(ARGV[2]) and redis.call("ZCARD", KEYS[3]) == 0 then
    redis.call("DEL", KEYS[1], KEYS[2])
    stands = 0
  end
  local last = tonumber(redis.call("HGET", KEYS[2], ARGV[1]) or "0")
  local most = tonumber(ARGV[3])
  local waiting = redis.call("ZCARD", KEYS[3]) + redis.call("LLEN", KEYS[4])
  local own = 0
  if ARGV[4] == "1" then own = math.min(waiting, math.max(0, last - stands)) end
  if waiting >= most or (own > 0 and own >= most - waiting) then return {-1, waiting, own} end
  local turn = math.max(stands, last)
  redis.call("HSET", KEYS[2], ARGV[1], turn + 1)
  return {turn, waiting, own}
`;

/** How many milliseconds the oldest run has waited. KEYS: the runs that wait, those given back. ARGV: the prefix of runs. */
const OLDEST = `
  local clock = redis.call("TIME")
  local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
  local oldest = now
  for _, ids in ipairs({redis.call("ZRANGE", KEYS[1], 0, -1), redis.call("LRANGE", KEYS[2], 0, -1)}) do
    for _, id in ipairs(ids) do
      oldest = math.min(oldest, tonumber(redis.call("HGET", ARGV[1] .. id, "timestamp") or now))
    end
  end
  return now - oldest
`;

/** The name of the turn that is served. */
export function servedTurn(prefix: string): string {
  return `${prefix}:turns:stands`;
}

/** The prefix of the counts of runs that ended, by the minute. */
export function endedRuns(prefix: string): string {
  return `${prefix}:served:`;
}

/** A run's turn. */
export interface Turn {
  /** Absent where too many runs wait. */
  priority: number | undefined;
  /** How many runs wait. */
  waiting: number;
  /** How many of them are the owner's, about. */
  own: number;
}

/** Fair turns among owners: each gets as many runs as the others who wait, however many it has put into the queue. */
export class Turns {
  readonly #client: Redis;
  readonly #keys: [string, string, string, string];
  readonly #renewAt: number;

  /** @param renewAt - From which turn on they begin anew once nothing waits. */
  constructor(client: Redis, prefix: string, renewAt = RENEW_AT) {
    this.#client = client;
    const runs = `${prefix}:${QUEUE}`;
    this.#keys = [servedTurn(prefix), `${prefix}:turns:last`, `${runs}:prioritized`, `${runs}:wait`];
    this.#renewAt = renewAt;
  }

  /** @param maxWaiting - How many runs may wait. */
  async take(owner: string | undefined, maxWaiting: number): Promise<Turn> {
    const isOneOfSeveral = owner === undefined ? "0" : "1";
    const given = [owner ?? "", this.#renewAt, maxWaiting, isOneOfSeveral] as const;
    const [turn = 0, waiting = 0, own = 0] = (
      (await this.#client.eval(TAKE, this.#keys.length, ...this.#keys, ...given)) as unknown[]
    ).map(Number);
    return { priority: turn < 0 ? undefined : Math.min(MAX_PRIORITY, turn + 1), waiting, own };
  }

  /** Forgets an owner who was deleted. */
  async forget(owner: string): Promise<void> {
    await this.#client.hdel(this.#keys[1], owner);
  }

  /** How long the oldest of the runs that wait has waited. */
  async oldestWaitMs(): Promise<number> {
    const [, , prioritized, waiting] = this.#keys;
    const runs = waiting.slice(0, -"wait".length);
    return Number(await this.#client.eval(OLDEST, 2, prioritized, waiting, runs));
  }
}

const MINUTE_MS = 60_000;
export const MINUTE_SECONDS = 60;
/** How long the count of a minute is kept. */
export const KEPT_SECONDS = 180;
const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 600_000;

/** Counts the runs of all workers, by minutes of the server: clocks of machines differ. */
export class Throughput {
  readonly #client: Redis;
  readonly #prefix: string;

  constructor(client: Redis, prefix: string) {
    this.#client = client;
    this.#prefix = endedRuns(prefix);
  }

  /** How long so many runs will probably take, in milliseconds. */
  async waitFor(runs: number): Promise<number> {
    const served = Math.max(1, await this.perMinute());
    return Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, Math.round((runs / served) * MINUTE_MS)));
  }

  /** Runs of the last 60 seconds: those of this minute, and of the one before it the part that is not past. */
  async perMinute(): Promise<number> {
    const [seconds] = await this.#client.time();
    const [minute, second] = [Math.floor(Number(seconds) / MINUTE_SECONDS), Number(seconds) % MINUTE_SECONDS];
    const [now = 0, before = 0] = (
      await this.#client.mget(this.#nameOf(minute), this.#nameOf(minute - 1))
    ).map(Number);
    return Math.round(now + before * (1 - second / MINUTE_SECONDS));
  }

  #nameOf(minute: number): string {
    return `${this.#prefix}${minute}`;
  }
}
