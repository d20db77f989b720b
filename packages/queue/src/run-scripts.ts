import { KEEP_GONE_MS, KEEP_RESULTS_MS, KEEP_RUN_MS } from "./connection.ts";
import { script } from "./run-library.ts";

const MINUTE_SECONDS = 60;
const KEEP_COUNTS_SECONDS = 180;
const PROBE_MS = 60_000;

/**
 * Puts a run, and assigns it to a worker at once if one has a free slot and no run waits before it. Otherwise it waits
 * its turn, by start-time fair queueing: an owner's runs follow each other, and a new owner starts at the current
 * virtual time. A run is refused when too many wait: an owner may have no more waiting runs than places remain free.
 * Returns the payload of a known run, or the counts of waiting runs.
 */
export const PUT = script(`
  local id, payload, host, session, owner, kind, quota, most = unpack(ARGV)
  local known = redis.call("HGET", nameOf(id), "payload")
  if known then
    join(id, host)
    return {known}
  end
  local waiting = redis.call("ZCARD", WAITING)
  local warm = waiting == 0 and session ~= "" and redis.call("GET", session)
  local worker = warm and isReady(warm) and warm or waiting == 0 and anyReady()
  if worker and not mayTake(owner) then worker = nil end
  local turn
  if not worker then
    local stands, last = 0, 0
    if waiting > 0 then
      stands, last = tonumber(redis.call("GET", STANDS) or "0"), tonumber(redis.call("HGET", LAST, quota) or "0")
    end
    local own = quota == "" and 0 or math.min(waiting, math.max(0, last - stands))
    most = tonumber(most)
    if waiting >= most or (own > 0 and own >= most - waiting) then return {false, waiting, own} end
    turn = math.max(stands, last)
  end
  local attempt = worker and 1 or 0
  redis.call(
    "HSET", nameOf(id),
    "payload", payload, "session", session, "owner", owner, "kind", kind, "at", now, "hosts", host, "attempt", attempt,
    "bytes", #payload
  )
  redis.call("DEL", messagesOf(id), repliesOf(id))
  if worker then
    -- It comes back to a worker that is only busy.
    local home = warm and (warm == worker or settingsOf(warm) > 0) and warm or worker
    give(id, worker, owner, session, home, payload, attempt, 0, 0)
  else
    if waiting == 0 then redis.call("DEL", STANDS, LAST) end
    redis.call("HSET", LAST, quota, turn + 1)
    redis.call("ZADD", WAITING, turn * WITHIN_TURN + redis.call("INCR", NUMBER) % WITHIN_TURN, id)
    -- Those before it may be of owners who have enough.
    if waiting > 0 then serve() end
  end
  return {}
`);

/** Adds a host to those that follow a run. Returns its payload. */
export const JOIN = script(`
  local payload = redis.call("HGET", nameOf(ARGV[1]), "payload")
  if payload then join(ARGV[1], ARGV[2]) end
  return payload
`);

/** Sends a message of the attempt that holds the run's lease, and may end the run. Returns whether the attempt holds it. */
export const SEND = script(`
  local id, attempt, worker, ending, payload, by, reason = unpack(ARGV)
  local newest, hosts = unpack(redis.call("HMGET", nameOf(id), "attempt", "hosts"))
  if newest ~= attempt or redis.call("HGET", ACTIVE, id) ~= worker then return 0 end
  local owner = ending ~= "" and release(id, worker)
  if ending == "back" then giveBack(id, 0) end
  if ending == "gone" then redis.call("XTRIM", messagesOf(id), "MAXLEN", 0) end
  local keepMs = ending == "gone" and ${KEEP_GONE_MS} or ending == "" and ${KEEP_RUN_MS} or ${KEEP_RESULTS_MS}
  if payload ~= "" then
    tell(messagesOf(id), payload, by, keepMs, hosts)
    redis.call("HINCRBY", nameOf(id), "bytes", #payload)
  end
  if ending == "dead" then
    redis.call("HSET", nameOf(id), "reason", reason)
    bury(id)
  elseif ending == "gone" then redis.call("DEL", nameOf(id), repliesOf(id))
  elseif ending == "done" then keep(owner, id) end
  if ending == "back" then serve()
  elseif ending ~= "" then
    local minute = prefix .. ":served:" .. math.floor(clock[1] / ${MINUTE_SECONDS})
    if redis.call("INCR", minute) == 1 then redis.call("EXPIRE", minute, ${KEEP_COUNTS_SECONDS}) end
    serve()
  end
  return 1
`);

/** Sends a host's reply to the current or next worker of the run. */
export const REPLY = script(`
  local id, payload, by = unpack(ARGV)
  local worker = redis.call("HGET", ACTIVE, id)
  tell(repliesOf(id), payload, by, ${KEEP_RUN_MS}, worker and inboxOf(worker) or "")
`);

/** Removes a run that no worker has, with a last message to the hosts that wait for it. Returns whether it was removed. */
export const REMOVE = script(`
  local id, onlyWaiting, payload, by = unpack(ARGV)
  if redis.call("HEXISTS", ACTIVE, id) == 1 then return 0 end
  local hosts = hostsOf(id)
  local waits = redis.call("ZREM", WAITING, id) == 1
  if not hosts or (onlyWaiting == "1" and not waits) then return 0 end
  redis.call("ZREM", DEAD, id)
  redis.call("DEL", nameOf(id), repliesOf(id))
  redis.call(waits and "XTRIM" or "DEL", messagesOf(id), unpack(waits and {"MAXLEN", 0} or {}))
  if waits then tell(messagesOf(id), payload, by, ${KEEP_GONE_MS}, hosts) end
  return 1
`);

/** Removes runs that a host or a worker has seen end, and that the server has again because it was set back. Returns how many. */
export const DROP = script(`
  local ended, found = {}, 0
  for _, id in ipairs(ARGV) do ended[id] = true end
  -- Fewer than have ended.
  for _, ids in ipairs({redis.call("HKEYS", ACTIVE), redis.call("ZRANGE", WAITING, 0, -1)}) do
    for _, id in ipairs(ids) do
      if ended[id] then
        local worker = redis.call("HGET", ACTIVE, id)
        if worker then release(id, worker) else redis.call("ZREM", WAITING, id) end
        redis.call("DEL", nameOf(id), messagesOf(id), repliesOf(id))
        found = found + 1
      end
    end
  end
  if found > 0 then serve() end
  return found
`);

/**
 * Records a worker's heartbeat. Also returns to the queue the runs of workers without a heartbeat in time, and runs
 * whose notice did not reach this one. After an outage for all workers, each gets time to send a heartbeat. Returns the
 * worker's runs.
 */
export const SIGN = script(`
  local worker, settings, lostAfter = ARGV[1], ARGV[2], tonumber(ARGV[3])
  redis.call("ZREM", SIGNS, worker)
  redis.call("ZADD", SIGNS, now + lostAfter, worker)
  local wasAway = now - tonumber(redis.call("GET", SIGNED) or "0") > lostAfter / 2
  redis.call("SET", SIGNED, now)
  if redis.call("HGET", WORKERS, worker) ~= settings then
    redis.call("HSET", WORKERS, worker, settings)
    local order = tonumber(redis.call("ZSCORE", FREE, worker) or 1 - 0.5 / NUMBERS) % 1
    redis.call("ZADD", FREE, settingsOf(worker) - redis.call("SCARD", runsOf(worker)) + order, worker)
  end
  -- A clock that was set back, or is another machine's, would keep those that are lost for as long.
  for _, other in ipairs(redis.call("ZRANGEBYSCORE", SIGNS, "(" .. now + lostAfter, "+inf")) do
    local _, _, its = settingsOf(other)
    if tonumber(redis.call("ZSCORE", SIGNS, other)) > now + its then redis.call("ZADD", SIGNS, now + its, other) end
  end
  for _, other in ipairs(redis.call("ZRANGEBYSCORE", SIGNS, "-inf", now)) do
    if wasAway then redis.call("ZADD", SIGNS, now + lostAfter / 2, other) else remove(other, 1) end
  end
  for at = 4, #ARGV do
    if redis.call("HGET", ACTIVE, ARGV[at]) == worker then
      release(ARGV[at], worker)
      giveBack(ARGV[at], 1)
    end
  end
  serve()
  return redis.call("SMEMBERS", runsOf(worker))
`);

export const LEAVE = script(`
  remove(ARGV[1], 0)
  serve()
`);

export const RETRY = script(`
  local id = ARGV[1]
  if redis.call("ZREM", DEAD, id) == 0 or redis.call("PERSIST", nameOf(id)) == 0 then return 0 end
  redis.call("HDEL", nameOf(id), "losses", "reason", "diedAt")
  giveBack(id, 0)
  serve()
  return 1
`);

export const COUNT = script(`
  if ARGV[1] == "1" then redis.call("SET", prefix .. ":probe", now, "PX", ${PROBE_MS}) end
  local workers = redis.call("ZCOUNT", SIGNS, now, "+inf")
  return {redis.call("ZCARD", WAITING), redis.call("HLEN", ACTIVE), redis.call("ZCARD", DEAD), workers}
`);

/** Returns how long the oldest run has waited, in milliseconds, and the number of runs that ended in the last 60 seconds. */
export const MEASURE = script(`
  local oldest = now
  for _, id in ipairs(redis.call("ZRANGE", WAITING, 0, -1)) do
    oldest = math.min(oldest, tonumber(redis.call("HGET", nameOf(id), "at") or now))
  end
  local minute, second = math.floor(clock[1] / ${MINUTE_SECONDS}), clock[1] % ${MINUTE_SECONDS}
  local counts = redis.call("MGET", prefix .. ":served:" .. minute, prefix .. ":served:" .. minute - 1)
  return {now - oldest, math.floor((counts[1] or 0) + (counts[2] or 0) * (1 - second / ${MINUTE_SECONDS}) + 0.5)}
`);
