-- SPDX-License-Identifier: Apache-2.0
-- Reads the outbox, and deletes the entries whose publication is committed. The script begins with guard.lua.
--
-- ARGV     3 the id of the last committed entry, 4 the id after which to read, 5 maximum number of entries
-- Result   { sessions in all lives, entries as XRANGE returns them }
redis.call('XTRIM', base .. ':outbox', 'MINID', string.format('%.0f-0', tonumber(ARGV[3]) + 1))
return {
  tonumber(state[7]),
  redis.call('XRANGE', base .. ':outbox', string.format('%.0f-0', tonumber(ARGV[4]) + 1), '+', 'COUNT', ARGV[5]),
}
