/**
 * Changes that must be atomic are scripts, which the server executes atomically. A value is a hash of its bytes and
 * version; a sorted set lists the keys in order. All keys of a store share one slot of a cluster.
 *
 * KEYS[1] is the key, KEYS[2] the list.
 */

export const CONFLICT = "CEM_CONFLICT";

const REQUIRE_VERSION = `
  local function requireVersion(expected)
    if expected == "*" then return end
    local found = redis.call("HGET", KEYS[1], "version") or ""
    if "=" .. found ~= expected then error({err = "${CONFLICT}"}) end
  end
`;

/**
 * Its first change is one that a server out of memory refuses: once a script has changed something, such a server lets
 * it continue.
 *
 * ARGV: member, expected version (\`*\` or \`=\` and the version), value, next version, milliseconds until it expires, or 0.
 */
export const WRITE = `${REQUIRE_VERSION}
  requireVersion(ARGV[2])
  redis.call("HSET", KEYS[1], "value", ARGV[3], "version", ARGV[4])
  redis.call("PERSIST", KEYS[1])
  if tonumber(ARGV[5]) > 0 then redis.call("PEXPIRE", KEYS[1], ARGV[5]) end
  redis.call("ZADD", KEYS[2], 0, ARGV[1])
  return 1
`;

/** ARGV: member, expected version. */
export const REMOVE = `${REQUIRE_VERSION}
  requireVersion(ARGV[2])
  redis.call("ZREM", KEYS[2], ARGV[1])
  return redis.call("DEL", KEYS[1])
`;

/**
 * KEYS[1]: a list. ARGV: first and last as ZRANGEBYLEX takes them, limit, prefix of the keys' names. Returns the keys
 * that still exist; removes expired ones from the list.
 */
export const LIST = `
  local found = {}
  local first, wanted = ARGV[1], tonumber(ARGV[3])
  while #found < wanted do
    local page = redis.call("ZRANGEBYLEX", KEYS[1], first, ARGV[2], "LIMIT", 0, wanted - #found)
    if #page == 0 then break end
    for _, member in ipairs(page) do
      if redis.call("EXISTS", ARGV[4] .. member) == 1 then table.insert(found, member)
      else redis.call("ZREM", KEYS[1], member) end
    end
    first = "(" .. page[#page]
  end
  return found
`;

/**
 * KEYS[1]: a list. ARGV: first as ZRANGEBYLEX takes it, limit, prefix of the keys' names. Removes the expired keys among the
 * next ones from the list. Returns the last of them, or nothing at the end.
 */
export const SWEEP = `
  local page = redis.call("ZRANGEBYLEX", KEYS[1], ARGV[1], "+", "LIMIT", 0, ARGV[2])
  for _, member in ipairs(page) do
    if redis.call("EXISTS", ARGV[3] .. member) == 0 then redis.call("ZREM", KEYS[1], member) end
  end
  if #page == tonumber(ARGV[2]) then return page[#page] end
`;

/** KEYS[1]: a list. ARGV: first and last, prefix of the keys' names. Removes at most 1,000 keys and returns how many. */
export const REMOVE_ALL = `
  local page = redis.call("ZRANGEBYLEX", KEYS[1], ARGV[1], ARGV[2], "LIMIT", 0, 1000)
  for _, member in ipairs(page) do
    redis.call("UNLINK", ARGV[3] .. member)
    redis.call("ZREM", KEYS[1], member)
  end
  return #page
`;
