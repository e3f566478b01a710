-- SPDX-License-Identifier: Apache-2.0
-- Shows a user under another name or picture: who is in, and who went silent and may come back; not for a session that
-- was put out or left since its ticket. After guard and change.
--
-- ARGV     6 live, 7 user, 8 session, 9 ticket, 10 profile
-- Entry    renamed, when the user is in
local live, user = ARGV[6], ARGV[7]
if isBarred(live, user .. '/' .. ARGV[8], ARGV[9]) then return 1 end
local members = base .. ':members:' .. live
local joined = string.match(redis.call('HGET', members, 'p:' .. user) or '', '^(%d+) ')
if joined then
  redis.call('HSET', members, 'p:' .. user, joined .. ' ' .. ARGV[10])
  tell('renamed')
end
redis.call('SET', base .. ':past:' .. live .. ':' .. user, ARGV[10], 'XX', 'KEEPTTL')
return 1
