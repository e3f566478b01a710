-- SPDX-License-Identifier: Apache-2.0
-- Reads a page of a live's audience list, in the order of joining. The script begins with guard.lua.
--
-- ARGV     3 live, 4 ticket after which the page begins, 5 maximum number of users
-- Result   { users in the live, ticket after which the next page begins or '', then for each user: user, time of the
--          join and profile }
local live, limit = ARGV[3], tonumber(ARGV[5])
local order = base .. ':order:' .. live
-- Users and tickets alternately; one user more than the page has, if there is a next page.
local found = redis.call('ZRANGEBYSCORE', order, '(' .. ARGV[4], '+inf', 'WITHSCORES', 'LIMIT', 0, limit + 1)
local page = { redis.call('ZCARD', order), '' }
for i = 1, math.min(#found, limit * 2), 2 do
  page[#page + 1] = found[i]
  -- '0 0 ' is the join time 0 with the empty profile.
  page[#page + 1] = redis.call('HGET', base .. ':members:' .. live, 'p:' .. found[i]) or '0 0 '
end
if #found > limit * 2 then page[2] = found[limit * 2] end
return page
