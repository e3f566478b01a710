// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LiveFold } from '../../src/core/live-fold.js';

const member = { live: 'duet', host: { userID: 'dora' }, seats: [] };
const person = { userID: 'bob' };
/** The inputs that announce a request, with its expiry in milliseconds as the server sends it. */
const notices = {
  applicationReceived: { guest: person, seatIndex: 1 },
  invitationReceived: { host: person, seatIndex: 1 },
  coHostRequestReceived: { inviter: member },
  battleRequestReceived: { battle: 'b-1', inviter: member, durationSeconds: 30 },
};

it('the end of every request is told in seconds, as all times are', () => {
  for (const [name, body] of Object.entries(notices)) {
    const { events, error } = new LiveFold('concert', 'me').apply({ type: `notice.${name}`, body: { ...body, expiresAt: 1_700_000_030_900 } });
    assert.equal(error, undefined, name);
    assert.deepEqual(events.map(({ detail }) => detail.expiresAt), [1_700_000_030], name);
  }
  const request = { battle: 'b-1', inviter: member, invitee: member, durationSeconds: 30,
    expiresAt: 1_700_000_030_900 };
  const { events } = new LiveFold('concert', 'me').snapshotRead('battleRequests', { sent: [], received: [request] });
  assert.deepEqual(events.map(({ detail }) => detail.expiresAt), [1_700_000_030]);
});
