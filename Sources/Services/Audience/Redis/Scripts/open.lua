-- SPDX-License-Identifier: Apache-2.0
-- A new owner, or one that has lost its connection, takes the partition and learns what stands there.
--
-- KEYS[1]  the partition's hash tag (guard.lua lists the keys)
-- ARGV     1 generation
-- Result   { epoch or '', sessions in all lives }, or the error FENCED
local stateKey = KEYS[1] .. ':state'
local state = redis.call('HMGET', stateKey, 'generation', 'epoch', 'sessions')
if not state[1] or not state[2] then return { '', 0 } end
if tonumber(state[1]) > tonumber(ARGV[1]) then
  return redis.error_reply('FENCED the partition has a later owner')
end
redis.call('HSET', stateKey, 'generation', ARGV[1])
return { state[2], tonumber(state[3]) }
