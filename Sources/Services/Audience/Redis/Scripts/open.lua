-- SPDX-License-Identifier: Apache-2.0
-- A new owner, or one that has lost its connection, takes the partition and learns what stands there. What nobody can
-- read is removed, as if this Redis were empty: all of it can be made again.
--
-- KEYS[1]  the partition's hash tag (guard.lua lists the keys)
-- ARGV     1 generation, 2 1: the owner has never committed anything, so a higher generation is of an older cluster
-- Result   { epoch or '', sessions in all lives }, or the error FENCED
local stateKey = KEYS[1] .. ':state'
local state = redis.call('TYPE', stateKey).ok == 'hash'
  and redis.call('HMGET', stateKey, 'epoch', 'generation', 'offset', 'id', 'clock', 'paused', 'sessions')
local isReadable = state and state[1]
for i = 2, 7 do
  -- More digits are beyond what a number of Lua holds exactly.
  isReadable = isReadable and state[i] and #state[i] < 16 and string.find(state[i], '^%-?%d+$')
end
if not isReadable then
  -- Ids in the outbox may be ahead of those of the next epoch, which would be refused.
  redis.call('DEL', stateKey, KEYS[1] .. ':outbox')
  return { '', 0 }
end
if tonumber(state[2]) > tonumber(ARGV[1]) then
  if ARGV[2] == '1' then return { '', 0 } end
  return redis.error_reply('FENCED the partition has a later owner')
end
redis.call('HSET', stateKey, 'generation', ARGV[1])
return { state[1], tonumber(state[7]) }
