-- SPDX-License-Identifier: Apache-2.0
-- Takes in who a gateway says is in a live: in a new epoch nobody else knows. After guard and change.
--
-- ARGV     6 live, 7 owner, then for each member: user, session, ticket, ms of silence, profile
-- Entry    asserted (c: users now), when that changed
local live, owner = ARGV[6], ARGV[7]
local before = countOf(live)
for i = 8, #ARGV, 5 do
  local user, session, ticket, silence = ARGV[i], ARGV[i + 1], ARGV[i + 2], math.max(0, tonumber(ARGV[i + 3]))
  local member = user .. '/' .. session
  if silence < lease and not isBarred(live, member, ticket) then
    local held = redis.call('HGET', base .. ':members:' .. live, 't:' .. member)
    if held and tonumber(held) > tonumber(ticket) then ticket = held end
    add(live, owner, user, session, ticket, time - silence + lease, ARGV[i + 4])
  end
end
if countOf(live) ~= before then tell('asserted', 'c', countOf(live)) end
return 1
