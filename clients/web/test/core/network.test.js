// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClientCore } from '../../src/core/client-core.js';

/** A client that is logged in at the time 0. */
function loggedIn() {
  const core = new ClientCore({ session: 's', random: () => 0.5, hasTokenProvider: false });
  core.start({ text: 't', left: 3_600_000 }, 0);
  const [login] = core.opened(0);
  core.received({ kind: 'reply', id: JSON.parse(login.text).id, result: { kind: 'loggedIn', body: { notices: '1-1', user: { userID: 'carol' } } } }, 0);
  assert.equal(core.state, 'open');
  return core;
}

const sent = (actions) => actions.filter(({ type }) => type === 'send').map(({ text }) => text);

describe('a client whose system has no network', () => {
  it('checks its open connection with a ping, and takes it as lost when nothing comes for 5 s', () => {
    const core = loggedIn();
    const pings = sent(core.setOnline(false, 1000));
    assert.equal(pings.length, 1);
    assert.match(pings[0], /"ping"/);
    assert.equal(core.dueAt(), 6000);
    assert.deepEqual(core.tick(5999), []);
    const events = core.tick(6000).filter(({ type }) => type === 'event').map(({ event }) => event.kind);
    assert.deepEqual(events, ['disconnected']);
    assert.equal(core.dueAt(), 36_000);
  });

  it('waits for a ping that is on its way, and as long as ever once there is a network again', () => {
    const core = loggedIn();
    assert.equal(sent(core.tick(20_000)).length, 1);
    assert.deepEqual(core.setOnline(false, 21_000), []);
    assert.equal(core.dueAt(), 25_000);
    core.setOnline(true, 22_000);
    assert.equal(core.dueAt(), 30_000);
  });

  it('does not connect sooner for it', () => {
    const core = loggedIn();
    core.closed(1006, 1000);
    core.setOnline(false, 1000);
    assert.equal(core.dueAt(), 31_000);
  });
});
