-- SPDX-License-Identifier: Apache-2.0
-- Changes the profile of a user who is in the live, or whose last lease has expired; changes nothing if the session's
-- ticket is revoked. The script begins with guard.lua and change.lua.
--
-- ARGV     6 live, 7 user, 8 session, 9 ticket, 10 profile
-- Entry    renamed, when the user is in the live
local live, user = ARGV[6], ARGV[7]
if isRevoked(live, user .. '/' .. ARGV[8], ARGV[9]) then return 1 end
local members = base .. ':members:' .. live
local joinedAt = string.match(redis.call('HGET', members, 'p:' .. user) or '', '^(%d+) ')
if joinedAt then
  redis.call('HSET', members, 'p:' .. user, joinedAt .. ' ' .. ARGV[10])
  appendChange('renamed')
end
-- XX: only if the profile of an expired user is stored.
redis.call('SET', base .. ':past:' .. live .. ':' .. user, ARGV[10], 'XX', 'KEEPTTL')
return 1
