-- SPDX-License-Identifier: Apache-2.0
-- Removes all sessions of a user from a live. After guard and change.
--
-- ARGV     6 live, 7 user, 8 1: nobody is sure who is here, and the kick holds for whoever it names
-- Entry    kicked (u, p: who, c: users now), when there was one to remove
local live, user = ARGV[6], ARGV[7]
local members = base .. ':members:' .. live
local sessions = redis.call('HGET', members, 's:' .. user)
if sessions then
  local profile = profileOf(live, user)
  for session in string.gmatch(sessions, '%S+') do
    remove(live, user, session)
  end
  tell('kicked', 'u', user, 'p', profile, 'c', countOf(live))
end
if sessions or ARGV[8] == '1' then bar(live, user, '', ARGV[3]) end
return 1
