-- SPDX-License-Identifier: Apache-2.0
-- Advances the time (change.lua does so), and lets leases expire. The script begins with guard.lua and change.lua.
--
-- ARGV     6 maximum number of leases that expire now; further leases expire in the next ticks
-- Entry    expired (v: live, u, p: user and profile, c: users now) for each user whose last lease has expired

-- How long the profile of an expired user is kept for its return, in ms.
local profileLifetime = 600000
local budget = tonumber(ARGV[6])
if budget <= 0 then return 1 end
for _, live in ipairs(redis.call('ZRANGEBYSCORE', base .. ':due', '-inf', time, 'LIMIT', 0, budget)) do
  local leases = base .. ':leases:' .. live
  local ended = redis.call('ZRANGEBYSCORE', leases, '-inf', time, 'LIMIT', 0, budget)
  for _, member in ipairs(ended) do
    local user, session = splitMember(member)
    local isLast, profile = removeSession(live, user, session)
    if isLast then
      redis.call('SET', base .. ':past:' .. live .. ':' .. user, profile, 'PX', profileLifetime)
      appendChange('expired', 'v', live, 'u', user, 'p', profile, 'c', userCount(live))
    end
  end
  -- The due time of a live may be too early, because an extended lease does not change it. So it is computed again.
  local firstLease = redis.call('ZRANGE', leases, 0, 0, 'WITHSCORES')
  if firstLease[2] then
    redis.call('ZADD', base .. ':due', firstLease[2], live)
  else
    redis.call('ZREM', base .. ':due', live)
  end
  -- A live without expired leases costs time, too, so it counts as one expired lease.
  budget = budget - math.max(1, #ended)
  if budget <= 0 then break end
end
return 1
