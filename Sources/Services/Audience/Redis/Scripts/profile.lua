-- SPDX-License-Identifier: Apache-2.0
-- Reads how a user of a live is shown. After guard.
--
-- ARGV     3 live, 4 user
-- Result   when it joined and its profile, or nil when it has no session in the live
return redis.call('HGET', base .. ':members:' .. ARGV[3], 'p:' .. ARGV[4])
