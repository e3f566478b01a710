-- SPDX-License-Identifier: Apache-2.0
-- Adds a session to a live, or refreshes it. After guard and change.
--
-- ARGV     6 live, 7 owner, 8 user, 9 session, 10 profile, 11 most users; the ticket is the offset
-- Entry    joined (f: 1 when the user came in with it, c: users now), or full
local live, owner, user, session = ARGV[6], ARGV[7], ARGV[8], ARGV[9]
if user ~= owner and countOf(live) >= tonumber(ARGV[11])
  and redis.call('HEXISTS', base .. ':members:' .. live, 's:' .. user) == 0 then
  tell('full')
  return 1
end
local isFirst = add(live, owner, user, session, ARGV[3], time + lease, ARGV[10])
tell('joined', 'f', isFirst and 1 or 0, 'c', countOf(live))
return 1
