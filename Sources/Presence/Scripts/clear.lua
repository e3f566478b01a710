-- SPDX-License-Identifier: Apache-2.0
-- Removes everybody from a live that has ended. After guard and change.
--
-- ARGV     6 live
local live = ARGV[6]
redis.call('HINCRBY', stateKey, 'sessions', -redis.call('ZCARD', base .. ':leases:' .. live))
redis.call('UNLINK', base .. ':leases:' .. live, base .. ':order:' .. live, base .. ':members:' .. live)
redis.call('ZREM', base .. ':due', live)
return 1
