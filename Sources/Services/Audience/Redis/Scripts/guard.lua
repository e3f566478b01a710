-- SPDX-License-Identifier: Apache-2.0
-- Stands before every script but open and begin: whose leases these are, and whether the caller may touch them.
--
-- KEYS[1]  the partition's hash tag, {audience.N}; every other key is made from it, so all are in one slot:
--            :state      hash: generation, epoch, offset (last one carried out), id (last of the outbox), clock (last
--                        time seen), paused (time that does not count), sessions (leases in all lives)
--            :outbox     stream: what changed, <id>-0, each with its offset
--            :due        sorted set: live -> no later than its first lease's end
--            :leases:L   sorted set: user/session -> end of the lease
--            :order:L    sorted set: user -> ticket of its first join (the owner is not among them)
--            :members:L  hash: t:user/session -> ticket, s:user -> its sessions, p:user -> when it joined, and profile
--            :gone:L:user/session   the ticket with which a session left; dies by itself
--            :gone:L:user/          the offset of a user's kick; dies by itself
--            :past:L:user           the profile of a user who expired; dies by itself
-- ARGV     1 generation, 2 epoch
-- Result   the error FENCED (a later owner has the partition) or EPOCH (not the data that the caller knows), or goes on.
local base = KEYS[1]
local stateKey = base .. ':state'
local state = redis.call('HMGET', stateKey, 'generation', 'epoch', 'offset', 'id', 'clock', 'paused', 'sessions')
if (tonumber(state[1] or '') or 0) > tonumber(ARGV[1]) then
  return redis.error_reply('FENCED the partition has a later owner')
end
if state[1] ~= ARGV[1] or state[2] ~= ARGV[2] then
  return redis.error_reply('EPOCH the leases are of another epoch')
end
