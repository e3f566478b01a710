-- SPDX-License-Identifier: Apache-2.0
-- Removes a session from a live, unless the session has joined again after the join of this ticket. The script begins
-- with guard.lua and change.lua.
--
-- ARGV     6 live, 7 user, 8 session, 9 ticket
-- Entry    left (u, p: user and profile, l: 1 when it was the user's last session, c: users after the leave), when the
--          session was removed
local live, user, session, ticket = ARGV[6], ARGV[7], ARGV[8], ARGV[9]
revokeTickets(live, user, session, ticket)
local currentTicket = redis.call('HGET', base .. ':members:' .. live, 't:' .. user .. '/' .. session)
if currentTicket and tonumber(currentTicket) <= tonumber(ticket) then
  local isLast, profile = removeSession(live, user, session)
  appendChange('left', 'u', user, 'p', profile, 'l', isLast and 1 or 0, 'c', userCount(live))
end
return 1
