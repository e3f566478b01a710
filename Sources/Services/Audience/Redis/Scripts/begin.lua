-- SPDX-License-Identifier: Apache-2.0
-- Begins a new epoch: all leases go. The outbox and the last offset stay, so that what was carried out is still told,
-- once; an owner without any committed offset starts from nothing, whatever an older cluster left here.
--
-- KEYS[1]  the partition's hash tag (guard.lua lists the keys)
-- ARGV     1 generation, 2 the new epoch, 3 last committed id of the outbox, 4 time in ms, 5 1: from nothing
-- Result   1, or the error FENCED
local base = KEYS[1]
local stateKey = base .. ':state'
local state = redis.call('HMGET', stateKey, 'generation', 'offset', 'id')
local fromNothing = ARGV[5] == '1'
if state[1] and tonumber(state[1]) > tonumber(ARGV[1]) and not fromNothing then
  return redis.error_reply('FENCED the partition has a later owner')
end
for _, live in ipairs(redis.call('ZRANGE', base .. ':due', 0, -1)) do
  redis.call('UNLINK', base .. ':leases:' .. live, base .. ':order:' .. live, base .. ':members:' .. live)
end
redis.call('DEL', base .. ':due')
local offset, id = state[2] or '-1', tonumber(state[3] or '0')
if fromNothing then
  redis.call('DEL', stateKey, base .. ':outbox')
  offset, id = '-1', 0
end
-- Ids never come again, also when this Redis has lost or gone back behind what was told.
id = math.max(id, tonumber(ARGV[3]))
redis.call('HSET', stateKey, 'generation', ARGV[1], 'epoch', ARGV[2], 'offset', offset,
  'id', string.format('%.0f', id), 'clock', ARGV[4], 'paused', 0, 'sessions', 0)
return 1
