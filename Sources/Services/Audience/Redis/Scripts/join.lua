-- SPDX-License-Identifier: Apache-2.0
-- Adds a session to a live, or extends its lease; the offset is its new ticket. The script begins with guard.lua and
-- change.lua.
--
-- ARGV     6 live, 7 owner, 8 user, 9 session, 10 profile, 11 maximum number of users, 12 the ticket of the session's
--          earlier join or '', 13 '1' if the user's other sessions are removed
-- Entry    joined (f: 1 when the user had no session before, r: 1 when other sessions were removed, n: 1 when the
--          profile of a user who had a session has changed, c: users after the join);
--          full; or void (the earlier ticket is revoked, or belongs to another user in the live)
local live, owner, user, session = ARGV[6], ARGV[7], ARGV[8], ARGV[9]
if ARGV[12] ~= '' then
  local holder = redis.call('ZRANGEBYSCORE', base .. ':order:' .. live, ARGV[12], ARGV[12], 'LIMIT', 0, 1)[1]
  if holder and holder ~= user or isRevoked(live, user .. '/' .. session, ARGV[12]) then
    appendChange('void')
    return 1
  end
end
if user ~= owner and userCount(live) >= tonumber(ARGV[11])
  and redis.call('HEXISTS', base .. ':members:' .. live, 's:' .. user) == 0 then
  appendChange('full')
  return 1
end
local oldProfile = profileOf(live, user)
local isFirst = addSession(live, owner, user, session, ARGV[3], time + lease, ARGV[10])
local replaces = 0
if ARGV[13] == '1' then
  for otherSession in string.gmatch(redis.call('HGET', base .. ':members:' .. live, 's:' .. user), '%S+') do
    if otherSession ~= session then
      removeSession(live, user, otherSession)
      revokeTickets(live, user, otherSession, ARGV[3])
      replaces = 1
    end
  end
end
local isRenamed = not isFirst and profileOf(live, user) ~= oldProfile
appendChange('joined', 'f', isFirst and 1 or 0, 'r', replaces, 'n', isRenamed and 1 or 0, 'c', userCount(live))
return 1
