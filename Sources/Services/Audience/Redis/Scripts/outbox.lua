-- SPDX-License-Identifier: Apache-2.0
-- Reads the outbox, and drops what has been told. After guard.
--
-- ARGV     3 entries up to this id are committed and deleted, 4 read after this id, 5 most entries
-- Result   { sessions in all lives, entries as XRANGE gives them }
redis.call('XTRIM', base .. ':outbox', 'MINID', string.format('%.0f-0', tonumber(ARGV[3]) + 1))
return {
  tonumber(state[7]),
  redis.call('XRANGE', base .. ':outbox', string.format('%.0f-0', tonumber(ARGV[4]) + 1), '+', 'COUNT', ARGV[5]),
}
