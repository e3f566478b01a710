-- SPDX-License-Identifier: Apache-2.0
-- The first part of every script except open.lua and begin.lua: rejects a caller that is no longer the owner of the
-- partition, or that expects another epoch of the leases.
--
-- KEYS[1]  the partition's hash tag, {audience.N}; every key begins with it, so all keys are in one slot (L is a live):
--            :state      hash: generation, epoch, offset (the last one executed), id (of the last outbox entry), clock
--                        (the latest time of an input), paused (the sum of all standstills), sessions (leases in all
--                        lives)
--            :outbox     stream: the changes, with the ids <id>-0, each with the offset of its input
--            :due        sorted set: live -> the end of its first lease, or an earlier time
--            :leases:L   sorted set: user/session -> the end of the lease
--            :order:L    sorted set: user -> the ticket of its first join; without the owner
--            :members:L  hash: t:user/session -> ticket, s:user -> its sessions, p:user -> time of the join and profile
--            :gone:L:user/session   the ticket up to which the session's tickets are revoked; expires
--            :gone:L:user/          the offset of the user's kick, up to which all its tickets are revoked; expires
--            :past:L:user           the profile of a user whose last lease has expired; expires
-- ARGV     1 generation, 2 epoch
-- Result   the error FENCED (the partition has a later owner) or EPOCH (Redis holds another epoch); otherwise the next
--          part of the script runs
local base = KEYS[1]
local stateKey = base .. ':state'
local state = redis.call('HMGET', stateKey, 'generation', 'epoch', 'offset', 'id', 'clock', 'paused', 'sessions')
if (tonumber(state[1] or '') or 0) > tonumber(ARGV[1]) then
  return redis.error_reply('FENCED the partition has a later owner')
end
if state[1] ~= ARGV[1] or state[2] ~= ARGV[2] then
  return redis.error_reply('EPOCH the leases are of another epoch')
end
