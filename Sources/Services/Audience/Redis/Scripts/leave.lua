-- SPDX-License-Identifier: Apache-2.0
-- Removes a session from a live, unless it has joined again since. After guard and change.
--
-- ARGV     6 live, 7 user, 8 session, 9 ticket
-- Entry    left (u, p: who, l: 1 when it was the user's last session, c: users now), when there was one to remove
local live, user, session, ticket = ARGV[6], ARGV[7], ARGV[8], ARGV[9]
bar(live, user, session, ticket)
local held = redis.call('HGET', base .. ':members:' .. live, 't:' .. user .. '/' .. session)
if held and tonumber(held) <= tonumber(ticket) then
  local isLast, profile = remove(live, user, session)
  tell('left', 'u', user, 'p', profile, 'l', isLast and 1 or 0, 'c', countOf(live))
end
return 1
