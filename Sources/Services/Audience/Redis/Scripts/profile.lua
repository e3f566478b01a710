-- SPDX-License-Identifier: Apache-2.0
-- Reads the profile of a user in a live. The script begins with guard.lua.
--
-- ARGV     3 live, 4 user
-- Result   the time of the join and the profile, or nil when the user has no session in the live
return redis.call('HGET', base .. ':members:' .. ARGV[3], 'p:' .. ARGV[4])
