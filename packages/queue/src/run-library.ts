import { KEEP_RESULTS_MS } from "./connection.ts";
import { MAX_NOTICE_BYTES, TELL } from "./streams.ts";

const KEEP_DEAD_MS = 7 * 86_400_000;
/** As long as a kept guest waits for the next run of its session. */
const KEEP_SESSION_MS = 300_000;
/** How often a run is given to another worker before it counts as the cause of the losses. */
export const MAX_LOSSES = 2;
/**
 * Maximum size of an owner's ended runs that are kept, in bytes; recently ended ones stay for the hosts that may still
 * read them.
 */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;
const READ_WITHIN_MS = 10_000;
/** How many waiting runs are searched for one whose guest is ready, and how often the first may be passed over for another. */
const LOOK_AHEAD = 16;
const MAX_PASSED = 16;

/**
 * The functions that all scripts share. A full server accepts a script whose first write frees memory: scripts that end
 * a run or send a heartbeat begin with one. `free` keeps the number of free slots of each worker, with the time since
 * its last run as the fraction: among workers with equally many free slots, the next run goes to the one that has
 * waited longest. Commands are most of a run's cost to the server, so no script reads what is already known.
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

export const script = (body: string): string => LIBRARY + body;
