-- SPDX-License-Identifier: Apache-2.0
-- Removes all sessions of a user from a live, and revokes the user's tickets. The script begins with guard.lua and
-- change.lua.
--
-- ARGV     6 live, 7 user, 8 '1' if also the tickets of a user without a session are revoked
-- Entry    kicked (u, p: user and profile, c: users after the kick), when the user had a session
local live, user = ARGV[6], ARGV[7]
local members = base .. ':members:' .. live
local sessions = redis.call('HGET', members, 's:' .. user)
if sessions then
  local profile = profileOf(live, user)
  for session in string.gmatch(sessions, '%S+') do
    removeSession(live, user, session)
  end
  appendChange('kicked', 'u', user, 'p', profile, 'c', userCount(live))
end
if sessions or ARGV[8] == '1' then revokeTickets(live, user, '', ARGV[3]) end
return 1
