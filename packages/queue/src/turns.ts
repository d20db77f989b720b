import type { Redis } from "ioredis";
import { QUEUE } from "./names.ts";

/** The largest priority that BullMQ takes. The lowest is served first. */
const MAX_PRIORITY = 2_097_152;

/** From here on turns begin anew as soon as nothing waits. Below it they grow by what the busiest customer takes. */
const RENEW_AT = MAX_PRIORITY / 2;

/** How much of a customer's share a run takes, by its urgency. */
const COST = { high: 1, normal: 4, low: 16 } as const;

/** How urgent a run is among those of all customers. */
export type Urgency = keyof typeof COST;

/**
 * Takes a turn: start-time fair queueing. A customer's runs follow each other at the distance of their cost; a customer who
 * comes anew begins where the service stands. KEYS: what stands, the customers' last turns, the runs that wait. ARGV: customer,
 * cost, from where on turns begin anew.
 */
const TAKE = `
  local stands = tonumber(redis.call("GET", KEYS[1]) or "0")
  if stands >= tonumber(ARGV[3]) and redis.call("ZCARD", KEYS[3]) == 0 then
    redis.call("DEL", KEYS[1], KEYS[2])
    stands = 0
  end
  local last = tonumber(redis.call("HGET", KEYS[2], ARGV[1]) or "0")
  local turn = math.max(stands, last)
  redis.call("HSET", KEYS[2], ARGV[1], turn + tonumber(ARGV[2]))
  return turn
`;

/** Notes that a turn came. */
const SERVE = `
  if tonumber(redis.call("GET", KEYS[1]) or "0") < tonumber(ARGV[1]) then redis.call("SET", KEYS[1], ARGV[1]) end
  return 1
`;

/** Who is next among customers: each gets as many runs as the others who wait, however many it has put into the queue. */
export class Turns {
  readonly #client: Redis;
  readonly #keys: [string, string, string];
  readonly #renewAt: number;

  /** @param renewAt - From which turn on they begin anew once nothing waits. */
  constructor(client: Redis, prefix: string, renewAt = RENEW_AT) {
    this.#client = client;
    this.#keys = [`${prefix}:turns:stands`, `${prefix}:turns:last`, `${prefix}:${QUEUE}:prioritized`];
    this.#renewAt = renewAt;
  }

  /** @returns the priority of a customer's next run. */
  async take(customer: string, urgency: Urgency): Promise<number> {
    const turn = Number(
      await this.#client.eval(TAKE, 3, ...this.#keys, customer, COST[urgency], this.#renewAt),
    );
    return Math.min(MAX_PRIORITY, turn + 1);
  }

  /** Forgets a customer who was deleted. */
  async forget(customer: string): Promise<void> {
    await this.#client.hdel(this.#keys[1], customer);
  }

  async serve(priority: number): Promise<void> {
    await this.#client.eval(SERVE, 1, this.#keys[0], priority - 1);
  }
}
