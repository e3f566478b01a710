-- SPDX-License-Identifier: Apache-2.0
-- Stands after guard and before every script that changes leases: once for each offset, on the partition's own clock.
--
-- ARGV     3 offset of the input, 4 its time in ms, 5 length of a lease in ms; the script's own arguments from 6 on
-- Result   0 when the offset was carried out before: nothing changes then. The scripts end with 1.
-- Numbers that only somebody else can have written end the epoch (begin.lua). Otherwise an offset far ahead would let
-- every input count as carried out, and a clock far ahead would let every lease expire.
for i = 3, 6 do
  if not state[i] or #state[i] > 15 or not string.find(state[i], '^%-?%d+$') then
    return redis.error_reply('DAMAGED the state of the partition cannot be read')
  end
end
local offset, now, lease = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
if offset <= tonumber(state[3]) then return 0 end

-- Time stands still while nothing comes in: no record, no owner, or this Redis was away. A gap is added to all leases at
-- once by counting time without it.
local clock, paused = tonumber(state[5]), tonumber(state[6])
if now - clock > 2000 then paused = paused + now - clock end
if now > clock then clock = now end
local time = clock - paused
redis.call('HSET', stateKey, 'offset', offset, 'clock', clock, 'paused', paused)

local lastID = tonumber(state[4])
-- More sessions of one user than this, and its oldest gives way.
local sessionLimit = 20

local function whole(number) return string.format('%.0f', number) end

-- Puts an entry into the outbox: the kind of change, then names and values.
local function tell(kind, ...)
  lastID = lastID + 1
  redis.call('XADD', base .. ':outbox', whole(lastID) .. '-0', 'o', ARGV[3], 'k', kind, ...)
  redis.call('HSET', stateKey, 'id', whole(lastID))
end

local function countOf(live) return redis.call('ZCARD', base .. ':order:' .. live) end

local function splitMember(member) return string.match(member, '^([^/]*)/(.*)$') end

-- The profile of a user who expired a while ago; nil when there is none that can be read.
local function pastProfile(live, user)
  local text = redis.pcall('GET', base .. ':past:' .. live .. ':' .. user)
  return type(text) == 'string' and text or nil
end

-- The profile of a user as entries and pages carry it, without the time of joining before it.
local function profileOf(live, user)
  local text = redis.call('HGET', base .. ':members:' .. live, 'p:' .. user)
  return text and string.match(text, '^%d+ (.*)$') or '0 '
end

-- Removes a session. Returns whether the user is out with it, and the user's profile.
local function remove(live, user, session)
  local members = base .. ':members:' .. live
  local member = user .. '/' .. session
  redis.call('ZREM', base .. ':leases:' .. live, member)
  redis.call('HDEL', members, 't:' .. member)
  redis.call('HINCRBY', stateKey, 'sessions', -1)
  local profile = profileOf(live, user)
  local left = {}
  for other in string.gmatch(redis.call('HGET', members, 's:' .. user) or '', '%S+') do
    if other ~= session then left[#left + 1] = other end
  end
  if #left > 0 then
    redis.call('HSET', members, 's:' .. user, table.concat(left, ' '))
    return false, profile
  end
  redis.call('HDEL', members, 's:' .. user, 'p:' .. user)
  redis.call('ZREM', base .. ':order:' .. live, user)
  return true, profile
end

-- Adds a session that has no lease, or refreshes one. Returns whether the user came in with it.
local function add(live, owner, user, session, ticket, leaseEnd, profile)
  local members = base .. ':members:' .. live
  local member = user .. '/' .. session
  local sessions = redis.call('HGET', members, 's:' .. user)
  local isNew = redis.call('ZADD', base .. ':leases:' .. live, 'GT', leaseEnd, member) == 1
  redis.call('ZADD', base .. ':due', 'LT', leaseEnd, live)
  redis.call('HSET', members, 't:' .. member, ticket)
  if isNew then
    redis.call('HINCRBY', stateKey, 'sessions', 1)
    redis.call('HSET', members, 's:' .. user, sessions and (sessions .. ' ' .. session) or session)
  end
  if not sessions then
    redis.call('HSET', members, 'p:' .. user, whole(now) .. ' ' .. profile)
    if user ~= owner then redis.call('ZADD', base .. ':order:' .. live, ticket, user) end
    return true
  end
  local joined = string.match(redis.call('HGET', members, 'p:' .. user) or '', '^(%d+) ') or whole(now)
  -- A device that names nothing for its user leaves it shown as it is.
  if profile == '0 ' then profile = profileOf(live, user) end
  redis.call('HSET', members, 'p:' .. user, joined .. ' ' .. profile)
  local _, held = string.gsub(sessions, '%S+', '')
  if isNew and held >= sessionLimit then remove(live, user, string.match(sessions, '%S+')) end
  return false
end

-- A late sign of life of before a leave or a kick brings nobody back. It is remembered for as long as one could.
local function bar(live, user, session, ticket)
  redis.call('SET', base .. ':gone:' .. live .. ':' .. user .. '/' .. session, ticket, 'PX', lease + 30000)
end

-- Whether a session with this ticket has left, or its user was kicked after it joined.
local function isBarred(live, member, ticket)
  local user = splitMember(member)
  local barred = redis.call('MGET', base .. ':gone:' .. live .. ':' .. member, base .. ':gone:' .. live .. ':' .. user .. '/')
  -- A text that is no number bars nobody.
  local function holds(text) return text and tonumber(ticket) <= (tonumber(text) or 0) end
  return holds(barred[1]) or holds(barred[2])
end
