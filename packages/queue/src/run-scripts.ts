import { createHash } from "node:crypto";
import { KEEP_GONE_MS, KEEP_RESULTS_MS, KEEP_RUN_MS } from "./connection.ts";
import { TELL } from "./streams.ts";

const KEEP_DEAD_MS = 7 * 86_400_000;
/** As long as a guest that waits for the next run of its session stays. */
const KEEP_SESSION_MS = 300_000;
/** How often a run is given to another worker before it counts as what loses them. */
export const MAX_LOSSES = 2;
/** A larger run is fetched by its worker instead of coming with the notice. */
const MAX_NOTICE_BYTES = 65_536;
/** The most that is kept of an owner's ended runs, in bytes; the hosts of one that ended lately may still read it. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;
const READ_WITHIN_MS = 10_000;
const MINUTE_SECONDS = 60;
const KEEP_COUNTS_SECONDS = 180;
const PROBE_MS = 60_000;
/** How many of those that wait are looked at for one whose guest is ready, and how often the first is passed over for another. */
const LOOK_AHEAD = 16;
const MAX_PASSED = 16;

/**
 * The functions that all scripts share. A script whose first write frees something is let through by a server that is full: what
 * ends a run, and what shows that a worker lives, begins with one. Of a worker, `free` keeps how many slots it has free, and in the
 * fraction how long ago it was given a run: of several with as many free slots, the next run is for the one that waits longest.
 * Most of what a run costs the server is commands, so none asks for what is known.
 */
const LIBRARY = `
  ${TELL}
  local prefix = KEYS[1]
  local WAITING, ACTIVE, DEAD = prefix .. ":runs:waiting", prefix .. ":runs:active", prefix .. ":runs:dead"
  local NUMBER, STANDS, LAST = prefix .. ":runs:number", prefix .. ":turns:stands", prefix .. ":turns:last"
  local WORKERS, FREE, SIGNS = prefix .. ":workers", prefix .. ":workers:free", prefix .. ":workers:signs"
  local SIGNED = prefix .. ":workers:signed"
  local clock = redis.call("TIME")
  local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
  local WITHIN_TURN, NUMBERS = 1048576, 68719476736

  local function nameOf(id) return prefix .. ":run:" .. id end
  local function messagesOf(id) return nameOf(id) .. ":messages" end
  local function repliesOf(id) return nameOf(id) .. ":replies" end
  local function runsOf(worker) return prefix .. ":worker:" .. worker .. ":runs" end
  local function inboxOf(worker) return prefix .. ":worker:" .. worker .. ":inbox" end
  local function hostsOf(id) return redis.call("HGET", nameOf(id), "hosts") end

  local settings, free = {}, {}
  local function settingsOf(worker)
    settings[worker] = settings[worker] or redis.call("HGET", WORKERS, worker) or ""
    local slots, keepsGuests, lostAfter = string.match(settings[worker], "(%d+) (%d) (%d+)")
    return tonumber(slots or 0), keepsGuests == "1", tonumber(lostAfter or 0)
  end

  -- One that gave no sign lately may be stuck.
  local function isReady(worker)
    free[worker] = tonumber(redis.call("ZSCORE", FREE, worker) or "0")
    if free[worker] <= 1 then return false end
    local _, _, lostAfter = settingsOf(worker)
    return tonumber(redis.call("ZSCORE", SIGNS, worker) or "0") - now > lostAfter * 0.6
  end

  local function activeOf(owner) return prefix .. ":owner:" .. owner .. ":active" end

  -- Whether an owner may take a slot: the more it has, the more it leaves free for others.
  local function mayTake(owner)
    if owner == "" then return true end
    local own, left = redis.call("SCARD", activeOf(owner)), 0
    if own == 0 then return true end
    local workers = redis.call("ZREVRANGEBYSCORE", FREE, "+inf", "(1", "WITHSCORES")
    for at = 2, #workers, 2 do left = left + math.floor(workers[at]) end
    if left > 1 + own / 8 then return true end
    -- A worker of an earlier version does not take out the runs that it ends.
    for _, id in ipairs(redis.call("SMEMBERS", activeOf(owner))) do
      if redis.call("HEXISTS", ACTIVE, id) == 0 then
        redis.call("SREM", activeOf(owner), id)
        own = own - 1
      end
    end
    return own == 0 or left > 1 + own / 8
  end

  local function anyReady()
    for _, worker in ipairs(redis.call("ZREVRANGEBYSCORE", FREE, "+inf", "(1", "LIMIT", 0, 16)) do
      if isReady(worker) then return worker end
    end
  end

  -- Gives a run to a worker that is ready. The session's next runs are for its home.
  local function give(id, worker, owner, session, home, payload, attempt, waited, isTold)
    redis.call("HSET", ACTIVE, id, worker)
    if owner ~= "" then redis.call("SADD", activeOf(owner), id) end
    redis.call("SADD", runsOf(worker), id)
    redis.call("ZADD", FREE, math.floor(free[worker]) - (now % NUMBERS + 1) / NUMBERS, worker)
    local _, keepsGuests = settingsOf(worker)
    if session ~= "" and keepsGuests then redis.call("SET", session, home, "PX", ${KEEP_SESSION_MS}) end
    if #payload > ${MAX_NOTICE_BYTES} then payload = "" end
    redis.call("PUBLISH", runsOf(worker), table.concat({id, attempt, waited, isTold, payload}, "\\n"))
  end

  -- Gives those that wait to workers that have a slot, in turn; before the first, one of the next whose guest a worker has that is
  -- ready: a new guest costs as much as many runs.
  local function serve()
    while true do
      local waiting = redis.call("ZRANGE", WAITING, 0, ${LOOK_AHEAD} - 1, "WITHSCORES")
      local worker = waiting[1] and anyReady()
      if not worker then return end
      local id, first, turn, passed, owner
      for at = 1, #waiting, 2 do
        local session, times, its = unpack(redis.call("HMGET", nameOf(waiting[at]), "session", "passed", "owner"))
        if mayTake(its or "") then
          local isFirst = not first
          if isFirst then first, turn, passed, id, owner = waiting[at], waiting[at + 1], tonumber(times or 0), waiting[at], its end
          local warm = session and session ~= "" and redis.call("GET", session)
          if warm and (warm == worker or isReady(warm)) then
            id, worker, owner = waiting[at], warm, its
            break
          end
          if isFirst and (not warm or passed == ${MAX_PASSED}) then break end
        end
      end
      if not first then return end
      if id ~= first then redis.call("HSET", nameOf(first), "passed", passed + 1) end
      turn = math.floor(tonumber(turn) / WITHIN_TURN)
      if turn > tonumber(redis.call("GET", STANDS) or "0") then redis.call("SET", STANDS, turn) end
      redis.call("ZREM", WAITING, id)
      local payload, session, at = unpack(redis.call("HMGET", nameOf(id), "payload", "session", "at"))
      if payload then
        local isTold = redis.call("EXISTS", messagesOf(id), repliesOf(id)) > 0 and 1 or 0
        give(id, worker, owner, session, worker, payload, redis.call("HINCRBY", nameOf(id), "attempt", 1), now - at, isTold)
      end
    end
  end

  local function deactivate(id)
    local owner = redis.call("HGET", nameOf(id), "owner")
    redis.call("HDEL", ACTIVE, id)
    if owner and owner ~= "" then redis.call("SREM", activeOf(owner), id) end
    return owner or ""
  end

  local function release(id, worker)
    redis.call("SREM", runsOf(worker), id)
    local owner = deactivate(id)
    redis.call("ZINCRBY", FREE, 1, worker)
    return owner
  end

  -- Keeps an ended run for hosts that ask again. Of an owner's oldest it is kept only that they were, where there are too many bytes.
  local function keep(owner, id)
    local kept = prefix .. ":owner:" .. owner .. ":kept"
    local sum, bytes = kept .. ":bytes", redis.call("HGET", nameOf(id), "bytes") or "0"
    redis.call("PEXPIRE", nameOf(id), ${KEEP_RESULTS_MS})
    redis.call("ZADD", kept, now, id .. " " .. bytes)
    local total = redis.call("INCRBY", sum, bytes)
    redis.call("PEXPIRE", kept, ${KEEP_RESULTS_MS})
    redis.call("PEXPIRE", sum, ${KEEP_RESULTS_MS})
    while true do
      local oldest, at = unpack(redis.call("ZRANGE", kept, 0, 0, "WITHSCORES"))
      local age = now - tonumber(at or now)
      local isExpired = age > ${KEEP_RESULTS_MS}
      if not isExpired and (total <= ${MAX_KEPT_BYTES} or age < ${READ_WITHIN_MS}) then return end
      redis.call("ZREM", kept, oldest)
      local other, size = string.match(oldest, "(%S+) (%d+)")
      total = redis.call("DECRBY", sum, size)
      if not isExpired then
        redis.call("DEL", messagesOf(other), repliesOf(other))
        redis.call("HSET", nameOf(other), "payload", "")
      end
    end
  end

  local function bury(id)
    redis.call("ZADD", DEAD, now, id)
    redis.call("ZREMRANGEBYSCORE", DEAD, "-inf", now - ${KEEP_DEAD_MS})
    redis.call("HSET", nameOf(id), "diedAt", now)
    redis.call("PEXPIRE", nameOf(id), ${KEEP_DEAD_MS})
  end

  -- Before all others that wait.
  local function giveBack(id, losses)
    if losses > 0 and redis.call("HINCRBY", nameOf(id), "losses", losses) > ${MAX_LOSSES} then bury(id)
    else redis.call("ZADD", WAITING, -1, id) end
  end

  local function remove(worker, losses)
    for _, id in ipairs(redis.call("SMEMBERS", runsOf(worker))) do
      deactivate(id)
      giveBack(id, losses)
    end
    redis.call("DEL", runsOf(worker))
    redis.call("ZREM", FREE, worker)
    redis.call("ZREM", SIGNS, worker)
    redis.call("HDEL", WORKERS, worker)
  end

  local function join(id, host)
    local hosts = hostsOf(id) or ""
    if not string.find(hosts, host, 1, true) then redis.call("HSET", nameOf(id), "hosts", hosts .. " " .. host) end
  end
`;

/**
 * Puts a run, and gives it to a worker at once where one has a slot and none waits before it. Else it gets a turn: start-time fair
 * queueing. An owner's runs follow each other; an owner who comes anew begins where the service stands. Where too many wait it is
 * refused: an owner may have as many as it leaves room for. Returns the payload of a known run, or the counts of those that wait.
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

/** Lets a host follow a run. Returns its payload. */
export const JOIN = script(`
  local payload = redis.call("HGET", nameOf(ARGV[1]), "payload")
  if payload then join(ARGV[1], ARGV[2]) end
  return payload
`);

/** Sends a message of an attempt that has the right to the run, which may end it. Returns whether it has. */
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

/** A host's reply to the worker that has the run, or will have it. */
export const REPLY = script(`
  local id, payload, by = unpack(ARGV)
  local worker = redis.call("HGET", ACTIVE, id)
  tell(repliesOf(id), payload, by, ${KEEP_RUN_MS}, worker and inboxOf(worker) or "")
`);

/** Removes a run that no worker has, with a last message to those who wait for it. Returns whether it was removed. */
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

/**
 * A worker's sign of life, which also gives back the runs of workers that gave none in time, and those whose notice did not reach
 * this one. After a time in which nobody could sign, all get time to do so. Returns the worker's runs.
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

/** How many milliseconds the oldest run has waited, and the runs that ended in the last 60 seconds. */
export const MEASURE = script(`
  local oldest = now
  for _, id in ipairs(redis.call("ZRANGE", WAITING, 0, -1)) do
    oldest = math.min(oldest, tonumber(redis.call("HGET", nameOf(id), "at") or now))
  end
  local minute, second = math.floor(clock[1] / ${MINUTE_SECONDS}), clock[1] % ${MINUTE_SECONDS}
  local counts = redis.call("MGET", prefix .. ":served:" .. minute, prefix .. ":served:" .. minute - 1)
  return {now - oldest, math.floor((counts[1] or 0) + (counts[2] or 0) * (1 - second / ${MINUTE_SECONDS}) + 0.5)}
`);

/** A script of Redis, and the name that it has there. */
export interface Script {
  lua: string;
  digest: string;
}

function script(body: string): Script {
  const lua = LIBRARY + body;
  return { lua, digest: createHash("sha1").update(lua).digest("hex") };
}
