-- SPDX-License-Identifier: Apache-2.0
-- Begins a new epoch: removes all leases. The outbox and the last offset stay, so that changes that were executed are
-- still published, once. The outbox and the last offset are removed too in two cases:
--   - No owner has committed an offset. Then the values are left over from an older cluster.
--   - A script has failed. Then no value can be trusted, and the changes of the failed batch are never published.
--
-- KEYS[1]  the partition's hash tag (guard.lua lists the keys)
-- ARGV     1 generation, 2 the new epoch, 3 last committed id of the outbox, 4 time in ms, 5 '1' if no owner has
--          committed an offset, 6 '1' if a script has failed; in this case from 7 on all lives of the partition
-- Result   1, or the error FENCED
local base = KEYS[1]
local stateKey = base .. ':state'
local isFirstOwner, isDamaged = ARGV[5] == '1', ARGV[6] == '1'
local isHash = redis.call('TYPE', stateKey).ok == 'hash'
local state = isHash and redis.call('HMGET', stateKey, 'generation', 'offset', 'id') or {}
if (tonumber(state[1] or '') or 0) > tonumber(ARGV[1]) and not isFirstOwner then
  return redis.error_reply('FENCED the partition has a later owner')
end
local function removeLive(live)
  redis.call('UNLINK', base .. ':leases:' .. live, base .. ':order:' .. live, base .. ':members:' .. live)
end
if redis.call('TYPE', base .. ':due').ok == 'zset' then
  for _, live in ipairs(redis.call('ZRANGE', base .. ':due', 0, -1)) do removeLive(live) end
end
for i = 7, #ARGV do removeLive(ARGV[i]) end
redis.call('DEL', base .. ':due')
local offset, id = state[2] or '-1', tonumber(state[3] or '0')
if isFirstOwner or isDamaged then
  redis.call('DEL', stateKey, base .. ':outbox')
  offset, id = '-1', 0
end
-- An id is never used twice, even if this Redis has lost entries that were already published.
id = math.max(id, tonumber(ARGV[3]))
redis.call('HSET', stateKey, 'generation', ARGV[1], 'epoch', ARGV[2], 'offset', offset,
  'id', string.format('%.0f', id), 'clock', ARGV[4], 'paused', 0, 'sessions', 0)
return 1
