-- SPDX-License-Identifier: Apache-2.0
-- Adds a session to a live, or refreshes it. After guard and change.
--
-- ARGV     6 live, 7 owner, 8 user, 9 session, 10 profile, 11 most users, 12 the ticket that it goes on with or '',
--          13 1: the user's other sessions give way; the new ticket is the offset
-- Entry    joined (f: 1 when the user came in with it, r: 1 when others gave way, n: 1 when a user who was in is shown
--          otherwise now, c: users now), full, or void (it was put out or left since ticket 12, or another user is in
--          by that ticket)
local live, owner, user, session = ARGV[6], ARGV[7], ARGV[8], ARGV[9]
if ARGV[12] ~= '' then
  local holder = redis.call('ZRANGEBYSCORE', base .. ':order:' .. live, ARGV[12], ARGV[12], 'LIMIT', 0, 1)[1]
  if holder and holder ~= user or isBarred(live, user .. '/' .. session, ARGV[12]) then
    tell('void')
    return 1
  end
end
if user ~= owner and countOf(live) >= tonumber(ARGV[11])
  and redis.call('HEXISTS', base .. ':members:' .. live, 's:' .. user) == 0 then
  tell('full')
  return 1
end
local shown = profileOf(live, user)
local isFirst = add(live, owner, user, session, ARGV[3], time + lease, ARGV[10])
local replaces = 0
if ARGV[13] == '1' then
  for other in string.gmatch(redis.call('HGET', base .. ':members:' .. live, 's:' .. user), '%S+') do
    if other ~= session then
      remove(live, user, other)
      bar(live, user, other, ARGV[3])
      replaces = 1
    end
  end
end
local isRenamed = not isFirst and profileOf(live, user) ~= shown
tell('joined', 'f', isFirst and 1 or 0, 'r', replaces, 'n', isRenamed and 1 or 0, 'c', countOf(live))
return 1
