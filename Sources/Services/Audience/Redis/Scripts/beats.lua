-- SPDX-License-Identifier: Apache-2.0
-- Handles heartbeats: extends each session's lease to time - silence + lease; never shortens a lease. A session without
-- a lease is added again, unless its ticket is revoked or it has been silent for a whole lease. The script begins with
-- guard.lua and change.lua.
--
-- ARGV     6 live, 7 owner, then for each heartbeat: user/session, ticket, silence (its age in ms)
-- Entry    back (u, p: user and profile, c: users now) for each user who is in the live again
local live, owner = ARGV[6], ARGV[7]
local leases = base .. ':leases:' .. live
-- The leases of 200 sessions (600 arguments) are read with one command and extended with one command. That is far below
-- the number of values that the Lua stack can hold.
local first, step = 8, 600
while first <= #ARGV do
  local last = math.min(first + step - 1, #ARGV)
  local query, extension = { leases }, { leases, 'XX', 'GT' }
  for i = first, last, 3 do query[#query + 1] = ARGV[i] end
  local leaseEnds = redis.call('ZMSCORE', unpack(query))
  for i = first, last, 3 do
    local member, ticket, silence = ARGV[i], ARGV[i + 1], math.max(0, tonumber(ARGV[i + 2]))
    local leaseEnd = time - silence + lease
    local oldLeaseEnd = leaseEnds[(i - first) / 3 + 1]
    if oldLeaseEnd then
      if leaseEnd > tonumber(oldLeaseEnd) then
        extension[#extension + 1] = leaseEnd
        extension[#extension + 1] = member
      end
    elseif silence < lease and not isRevoked(live, member, ticket) then
      local user, session = splitMember(member)
      local hasSession = redis.call('HEXISTS', base .. ':members:' .. live, 's:' .. user) == 1
      -- '0 ' is the empty profile.
      local profile = hasSession and profileOf(live, user) or expiredProfile(live, user) or '0 '
      if addSession(live, owner, user, session, ticket, leaseEnd, profile) then
        appendChange('back', 'u', user, 'p', profile, 'c', userCount(live))
      end
    end
  end
  -- The first three elements are the key and the options.
  if #extension > 3 then redis.call('ZADD', unpack(extension)) end
  first = last + 1
end
return 1
