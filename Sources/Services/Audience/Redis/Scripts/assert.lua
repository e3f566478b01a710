-- SPDX-License-Identifier: Apache-2.0
-- Adds the members that a gateway asserts, because in a new epoch Redis has no leases. The script begins with guard.lua
-- and change.lua.
--
-- ARGV     6 live, 7 owner, then for each member: user, session, ticket, time since its last heartbeat in ms, profile
-- Entry    asserted (c: users now), when the number of users changed
local live, owner = ARGV[6], ARGV[7]
local oldCount = userCount(live)
for i = 8, #ARGV, 5 do
  local user, session, ticket, silence = ARGV[i], ARGV[i + 1], ARGV[i + 2], math.max(0, tonumber(ARGV[i + 3]))
  local member = user .. '/' .. session
  if silence < lease and not isRevoked(live, member, ticket) then
    -- A later join of the session may have stored a higher ticket, which stays.
    local currentTicket = redis.call('HGET', base .. ':members:' .. live, 't:' .. member)
    if currentTicket and tonumber(currentTicket) > tonumber(ticket) then ticket = currentTicket end
    addSession(live, owner, user, session, ticket, time - silence + lease, ARGV[i + 4])
  end
end
if userCount(live) ~= oldCount then appendChange('asserted', 'c', userCount(live)) end
return 1
