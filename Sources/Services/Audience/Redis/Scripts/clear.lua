-- SPDX-License-Identifier: Apache-2.0
-- Removes everybody from a live that has ended. After guard and change.
--
-- ARGV     6 live
local live = ARGV[6]
local held = redis.pcall('ZCARD', base .. ':leases:' .. live)
if type(held) == 'number' and held > 0 then redis.call('HINCRBY', stateKey, 'sessions', -held) end
redis.call('UNLINK', base .. ':leases:' .. live, base .. ':order:' .. live, base .. ':members:' .. live)
redis.call('ZREM', base .. ':due', live)
return 1
