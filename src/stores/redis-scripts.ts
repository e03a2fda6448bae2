// The Lua scripts of the Redis store.
import { createHash } from "node:crypto"

export interface RedisScript {
  text: string
  sha: string
}

/** One commit. Returns { 1, revision, epoch }, { 0, revision of the guarded value, epoch } if the guard does not hold,
 *  or { -1 } if the store has another epoch than the client knows: it was emptied.
 *
 *  KEYS: the counter, the index of keys, the commits of this client, the epoch, then the keys that the changes name.
 *  ARGV: the number of this commit of the client, the numbers whose answers arrived, the position of the guarded key in
 *  KEYS or 0, the revision it must have, the prefix of channels, 1 if the commit must be made even if the server is
 *  full, the epoch that the client knows or '', the epoch of a new store, then the changes, each as its type and
 *  fields.
 *
 *  A connection can break between the commit and its answer. The client then sends the same number again and gets the
 *  same answer. */
export const commitScript = createScript(`
  local known = redis.call('HGET', KEYS[3], ARGV[1])
  local epoch = redis.call('GET', KEYS[4])
  if known then return { 1, tonumber(known), epoch } end
  if ARGV[7] ~= '' and epoch ~= ARGV[7] then return { -1 } end

  local guarded = tonumber(ARGV[3])
  if guarded > 0 then
    local found = tonumber(redis.call('HGET', KEYS[guarded], 'revision') or '0')
    if found ~= tonumber(ARGV[4]) then return { 0, found, epoch } end
  end

  -- Redis checks its memory limit only before the first write of a script, and allows a command that frees memory.
  if ARGV[6] == '1' then redis.call('HDEL', KEYS[3], '-') end
  if not epoch then
    epoch = ARGV[8]
    redis.call('SET', KEYS[4], epoch)
  end
  local revision = redis.call('INCR', KEYS[1])
  local changed = {}
  local at = 9
  while at <= #ARGV do
    local kind, key = ARGV[at], KEYS[tonumber(ARGV[at + 1])]
    if kind == 'put' then
      local fresh = redis.call('HSET', key, 'revision', revision, 'kind', ARGV[at + 3], 'value', ARGV[at + 4])
      if fresh > 0 then redis.call('ZADD', KEYS[2], 0, ARGV[at + 2]) end
      at = at + 5
    elseif kind == 'append' then
      -- The first item is the log's own mark: who watches sees by it that the log was replaced.
      if redis.call('EXISTS', key) == 0 then redis.call('RPUSH', key, revision) end
      local first, last = at + 4, at + 3 + tonumber(ARGV[at + 3])
      for from = first, last, 5000 do
        redis.call('RPUSH', key, unpack(ARGV, from, math.min(from + 4999, last)))
      end
      changed[ARGV[at + 2]] = true
      at = last + 1
    else
      redis.call('DEL', key, KEYS[tonumber(ARGV[at + 2])])
      redis.call('ZREM', KEYS[2], ARGV[at + 3])
      changed[ARGV[at + 3]] = true
      at = at + 4
    end
  end

  for number in string.gmatch(ARGV[2], '%d+') do redis.call('HDEL', KEYS[3], number) end
  redis.call('HSET', KEYS[3], ARGV[1], revision)
  redis.call('EXPIRE', KEYS[3], 86400)
  for log in pairs(changed) do redis.call('PUBLISH', ARGV[5] .. ':' .. log, log) end
  return { 1, revision, epoch }
`)

/** A page of a log: { mark, length, items… } with at least one item if there is one; {} if there is no log.
 *  KEYS: the log. ARGV: the first position, the position to stop before, the approximate size in bytes. */
export const pageScript = createScript(`
  local mark = redis.call('LINDEX', KEYS[1], 0)
  if not mark then return {} end
  local length = redis.call('LLEN', KEYS[1]) - 1
  local page = { mark, tostring(length) }
  local at, stop = tonumber(ARGV[1]), math.min(tonumber(ARGV[2]), length)
  local size = 0
  while at < stop and size < tonumber(ARGV[3]) do
    local items = redis.call('LRANGE', KEYS[1], at + 1, math.min(at + 64, stop))
    for _, item in ipairs(items) do
      page[#page + 1] = item
      size = size + #item
    end
    at = at + #items
  end
  return page
`)

function createScript(text: string): RedisScript {
  return { text, sha: createHash("sha1").update(text).digest("hex") }
}
