-- SPDX-License-Identifier: Apache-2.0
-- Extends the leases of a live to time - silence + lease, never shortening one. A session without a lease is brought back,
-- unless it is out for good or has been silent for a whole lease. After guard and change.
--
-- ARGV     6 live, 7 owner, then for each beat: user/session, ticket, ms of silence
-- Entry    back (u, p: who, c: users now) for each user that is in again
local live, owner = ARGV[6], ARGV[7]
local leases = base .. ':leases:' .. live
-- Some hundred at a time: one call each way for all of them, and far below what the Lua stack holds.
local first, step = 8, 600
while first <= #ARGV do
  local last = math.min(first + step - 1, #ARGV)
  local ask, extend = { leases }, { leases, 'XX', 'GT' }
  for i = first, last, 3 do ask[#ask + 1] = ARGV[i] end
  local ends = redis.call('ZMSCORE', unpack(ask))
  for i = first, last, 3 do
    local member, ticket, silence = ARGV[i], ARGV[i + 1], math.max(0, tonumber(ARGV[i + 2]))
    local leaseEnd = time - silence + lease
    local held = ends[(i - first) / 3 + 1]
    if held then
      if leaseEnd > tonumber(held) then
        extend[#extend + 1] = leaseEnd
        extend[#extend + 1] = member
      end
    elseif silence < lease and not isBarred(live, member, ticket) then
      local user, session = splitMember(member)
      local known = redis.call('HEXISTS', base .. ':members:' .. live, 's:' .. user) == 1
      local profile = known and profileOf(live, user)
        or pastProfile(live, user) or '0 '
      if add(live, owner, user, session, ticket, leaseEnd, profile) then
        tell('back', 'u', user, 'p', profile, 'c', countOf(live))
      end
    end
  end
  if #extend > 3 then redis.call('ZADD', unpack(extend)) end
  first = last + 1
end
return 1
