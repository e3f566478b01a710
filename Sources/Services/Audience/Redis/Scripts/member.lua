-- SPDX-License-Identifier: Apache-2.0
-- Reads whether a user has a session in a live. The script begins with guard.lua.
--
-- ARGV     3 live, 4 user
-- Result   1 or 0
return redis.call('HEXISTS', base .. ':members:' .. ARGV[3], 's:' .. ARGV[4])
