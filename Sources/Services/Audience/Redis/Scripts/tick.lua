-- SPDX-License-Identifier: Apache-2.0
-- Lets time pass; leases that have ended expire. After guard and change.
--
-- ARGV     6 the most leases that may expire now; the rest waits for the next tick
-- Entry    expired (v: the live, u, p: who, c: users now) for each user whose last lease ended
local left = tonumber(ARGV[6])
if left <= 0 then return 1 end
for _, live in ipairs(redis.call('ZRANGEBYSCORE', base .. ':due', '-inf', time, 'LIMIT', 0, left)) do
  local leases = base .. ':leases:' .. live
  local ended = redis.call('ZRANGEBYSCORE', leases, '-inf', time, 'LIMIT', 0, left)
  for _, member in ipairs(ended) do
    local user, session = splitMember(member)
    local isLast, profile = remove(live, user, session)
    if isLast then
      redis.call('SET', base .. ':past:' .. live .. ':' .. user, profile, 'PX', 600000)
      tell('expired', 'v', live, 'u', user, 'p', profile, 'c', countOf(live))
    end
  end
  -- What stood there may have been too early, for leases are extended without it.
  local next = redis.call('ZRANGE', leases, 0, 0, 'WITHSCORES')
  if next[2] then
    redis.call('ZADD', base .. ':due', next[2], live)
  else
    redis.call('ZREM', base .. ':due', live)
  end
  left = left - math.max(1, #ended)
  if left <= 0 then break end
end
return 1
