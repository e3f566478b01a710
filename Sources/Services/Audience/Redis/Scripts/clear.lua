-- SPDX-License-Identifier: Apache-2.0
-- Removes all sessions of a live, because it has ended or a live with the same id begins. The script begins with
-- guard.lua and change.lua.
--
-- ARGV     6 live
local live = ARGV[6]
-- If the key holds a damaged value, `count` is an error and not a number.
local count = redis.pcall('ZCARD', base .. ':leases:' .. live)
if type(count) == 'number' and count > 0 then redis.call('HINCRBY', stateKey, 'sessions', -count) end
redis.call('UNLINK', base .. ':leases:' .. live, base .. ':order:' .. live, base .. ':members:' .. live)
redis.call('ZREM', base .. ':due', live)
return 1
