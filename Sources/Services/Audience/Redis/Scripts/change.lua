-- SPDX-License-Identifier: Apache-2.0
-- Part of every script that changes leases, after guard.lua: lets each offset take effect at most once, advances the
-- partition's clock, and defines the functions that these scripts share.
--
-- ARGV     3 offset of the input, 4 its time in ms, 5 length of a lease in ms; the script's own arguments from 6 on
-- Result   0 when the offset was executed before; then nothing changes. The scripts return 1.
--
-- Numbers that no script has written are damage and end the epoch (begin.lua). If they were used, an offset far in the
-- future would make every input count as executed, and a clock far in the future would let every lease expire.
-- state[3] to state[6] are offset, id, clock and paused (guard.lua). Lua's numbers are exact up to 15 digits.
for i = 3, 6 do
  if not state[i] or #state[i] > 15 or not string.find(state[i], '^%-?%d+$') then
    return redis.error_reply('DAMAGED the state of the partition cannot be read')
  end
end
local offset, now, lease = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
if offset <= tonumber(state[3]) then return 0 end

-- A gap without requests is a standstill: there was no input or no owner, or this Redis could not be reached. No lease
-- may expire because of it. So the time of the leases is the clock minus all standstills, which extends all leases at
-- once. The limit of 2 s is that of Moment.maxGap.
local clock, paused = tonumber(state[5]), tonumber(state[6])
if now - clock > 2000 then paused = paused + now - clock end
if now > clock then clock = now end
local time = clock - paused
redis.call('HSET', stateKey, 'offset', offset, 'clock', clock, 'paused', paused)

local lastID = tonumber(state[4])
-- The maximum number of sessions of one user in a live; a further session removes the oldest.
local sessionLimit = 20

-- The text of a whole number, without an exponent.
local function integerText(number) return string.format('%.0f', number) end

-- Appends a change to the outbox: its kind, then field names and values alternately.
local function appendChange(kind, ...)
  lastID = lastID + 1
  redis.call('XADD', base .. ':outbox', integerText(lastID) .. '-0', 'o', ARGV[3], 'k', kind, ...)
  redis.call('HSET', stateKey, 'id', integerText(lastID))
end

-- The number of users in a live, without the owner.
local function userCount(live) return redis.call('ZCARD', base .. ':order:' .. live) end

-- Splits user/session.
local function splitMember(member) return string.match(member, '^([^/]*)/(.*)$') end

-- The stored profile of a user whose last lease has expired; nil when there is none or it cannot be read.
local function expiredProfile(live, user)
  local text = redis.pcall('GET', base .. ':past:' .. live .. ':' .. user)
  return type(text) == 'string' and text or nil
end

-- The profile of a user in a live, without the time of the join; '0 ', the empty profile, for an absent user.
local function profileOf(live, user)
  local text = redis.call('HGET', base .. ':members:' .. live, 'p:' .. user)
  return text and string.match(text, '^%d+ (.*)$') or '0 '
end

-- Removes a session. Returns whether it was the user's last session, and the user's profile.
local function removeSession(live, user, session)
  local members = base .. ':members:' .. live
  local member = user .. '/' .. session
  redis.call('ZREM', base .. ':leases:' .. live, member)
  redis.call('HDEL', members, 't:' .. member)
  redis.call('HINCRBY', stateKey, 'sessions', -1)
  local profile = profileOf(live, user)
  local remaining = {}
  for otherSession in string.gmatch(redis.call('HGET', members, 's:' .. user) or '', '%S+') do
    if otherSession ~= session then remaining[#remaining + 1] = otherSession end
  end
  if #remaining > 0 then
    redis.call('HSET', members, 's:' .. user, table.concat(remaining, ' '))
    return false, profile
  end
  redis.call('HDEL', members, 's:' .. user, 'p:' .. user)
  redis.call('ZREM', base .. ':order:' .. live, user)
  return true, profile
end

-- Adds a session, or extends its lease. Returns whether the user had no session before.
local function addSession(live, owner, user, session, ticket, leaseEnd, profile)
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
    redis.call('HSET', members, 'p:' .. user, integerText(now) .. ' ' .. profile)
    if user ~= owner then redis.call('ZADD', base .. ':order:' .. live, ticket, user) end
    return true
  end
  local joinedAt = string.match(redis.call('HGET', members, 'p:' .. user) or '', '^(%d+) ') or integerText(now)
  -- A device that sends an empty profile does not change the user's profile.
  if profile == '0 ' then profile = profileOf(live, user) end
  redis.call('HSET', members, 'p:' .. user, joinedAt .. ' ' .. profile)
  local _, oldCount = string.gsub(sessions, '%S+', '')
  if isNew and oldCount >= sessionLimit then removeSession(live, user, string.match(sessions, '%S+')) end
  return false
end

-- Revokes the tickets of a session up to this one; with the session '', those of all sessions of the user.
--
-- A late heartbeat from before a leave or a kick must not return the user to the live. So the revoked ticket is kept
-- for as long as such a heartbeat could arrive: the length of a lease and 30 s more.
local function revokeTickets(live, user, session, ticket)
  redis.call('SET', base .. ':gone:' .. live .. ':' .. user .. '/' .. session, ticket, 'PX', lease + 30000)
end

-- Whether this ticket of a session is revoked, because the session left or its user was kicked after the ticket's join.
local function isRevoked(live, member, ticket)
  local user = splitMember(member)
  local gone = base .. ':gone:' .. live .. ':'
  local revoked = redis.call('MGET', gone .. member, gone .. user .. '/')
  -- A text that is not a number revokes no ticket.
  local function covers(text) return text and tonumber(ticket) <= (tonumber(text) or 0) end
  return covers(revoked[1]) or covers(revoked[2])
end
