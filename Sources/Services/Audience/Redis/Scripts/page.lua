-- SPDX-License-Identifier: Apache-2.0
-- Reads a page of a live's list, in the order of joining. After guard.
--
-- ARGV     3 live, 4 ticket after which it begins, 5 most users
-- Result   { users in the live, ticket after which the next page begins or '', user, its profile, user, … }
local live, most = ARGV[3], tonumber(ARGV[5])
local order = base .. ':order:' .. live
local found = redis.call('ZRANGEBYSCORE', order, '(' .. ARGV[4], '+inf', 'WITHSCORES', 'LIMIT', 0, most + 1)
local page = { redis.call('ZCARD', order), '' }
for i = 1, math.min(#found, most * 2), 2 do
  page[#page + 1] = found[i]
  page[#page + 1] = redis.call('HGET', base .. ':members:' .. live, 'p:' .. found[i]) or '0 0 '
end
if #found > most * 2 then page[2] = found[most * 2] end
return page
