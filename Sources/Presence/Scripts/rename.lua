-- SPDX-License-Identifier: Apache-2.0
-- Shows a user under another name or picture: who is in, and who went silent and may come back. After guard and change.
--
-- ARGV     6 live, 7 user, 8 profile
-- Entry    renamed, when the user is in
local live, user = ARGV[6], ARGV[7]
local members = base .. ':members:' .. live
local joined = string.match(redis.call('HGET', members, 'p:' .. user) or '', '^(%d+) ')
if joined then
  redis.call('HSET', members, 'p:' .. user, joined .. ' ' .. ARGV[8])
  tell('renamed')
end
redis.call('SET', base .. ':past:' .. live .. ':' .. user, ARGV[8], 'XX', 'KEEPTTL')
return 1
