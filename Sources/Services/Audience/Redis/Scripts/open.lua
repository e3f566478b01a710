-- SPDX-License-Identifier: Apache-2.0
-- Opens the partition for a new owner, or for an owner that has lost its connection, and reads its epoch. A damaged
-- state is removed, as if this Redis were empty, because gateways can assert all sessions again.
--
-- KEYS[1]  the partition's hash tag (guard.lua lists the keys)
-- ARGV     1 generation, 2 '1' if no owner has committed an epoch, so that a higher generation is from an older cluster
-- Result   { epoch or '', sessions in all lives }, or the error FENCED
local stateKey = KEYS[1] .. ':state'
local state = redis.call('TYPE', stateKey).ok == 'hash'
  and redis.call('HMGET', stateKey, 'epoch', 'generation', 'offset', 'id', 'clock', 'paused', 'sessions')
local isReadable = state and state[1]
for i = 2, 7 do
  -- Lua's numbers are doubles, which are exact up to 15 digits.
  isReadable = isReadable and state[i] and #state[i] < 16 and string.find(state[i], '^%-?%d+$')
end
if not isReadable then
  -- The ids of old entries may be higher than those of the next epoch. Then Redis would reject the new entries.
  redis.call('DEL', stateKey, KEYS[1] .. ':outbox')
  return { '', 0 }
end
if tonumber(state[2]) > tonumber(ARGV[1]) then
  if ARGV[2] == '1' then return { '', 0 } end
  return redis.error_reply('FENCED the partition has a later owner')
end
redis.call('HSET', stateKey, 'generation', ARGV[1])
return { state[1], tonumber(state[7]) }
