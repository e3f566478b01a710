// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreEvent } from '../../src/index.js';
import { settle } from '../support/fake-clock.js';
import { makePage } from '../support/fake-page.js';
import { showLanguage } from '../support/texts.js';

makePage();
await showLanguage();
// Loaded before it is asked for, so that a test need not wait for the disk.
await import('../../pages/live/ending.js');
const { CoHostSection } = await import('../../pages/host/co-host-section.js');
const { LivePage } = await import('../../pages/live/live-page.js');
const { host, openRequest, owner } = await import('../support/owner.js');

const ways = { 'who enters again': (session) => session.enter('concert'), 'who goes live': (session) => session.goLive({ liveID: 'concert' }) };
for (const [name, enter] of Object.entries(ways)) {
  test(`an owner is asked about a request that came before the panel: ${name}`, async () => {
    const { session, page, open, texts, tell } = owner();
    open['cohost.requests'].received.push(openRequest('duet', 'concert', 30));
    await enter(session);
    const section = new CoHostSection(page);
    await settle();
    assert.deepEqual(texts(), ['Host of duet wants to connect.']);
    tell('coHost', 'onCoHostRequestTimeout', { inviter: host('concert'), invitee: host('trio') });
    assert.equal(texts()[0], 'Host of duet wants to connect.', 'the end of the own request is not that of the other one');
    tell('coHost', 'onCoHostRequestTimeout', { inviter: host('duet'), invitee: host('concert') });
    assert.ok(!texts().includes('Host of duet wants to connect.'));
    section.dispose();
  });
}

test('a battle request is asked about, and answered, once', async () => {
  const { session, page, open, stores, texts, tell, shown } = owner();
  open['battle.requests'].received.push(openRequest('duet', 'concert', 30, { battle: 'b-1', hasAccepted: false }));
  await session.enter('concert');
  const section = new CoHostSection(page);
  // The store tells it too.
  tell('battle', 'onBattleRequestReceived', { battleID: 'b-1', inviter: host('duet'), invitee: host('concert'), expiresAt: 30 });
  await settle();
  assert.deepEqual(texts(), ['Host of duet challenges you to a battle.']);
  const answers = [];
  stores.battle.acceptBattle = async (detail) => {
    answers.push(detail);
    open['battle.requests'].received[0].hasAccepted = true;
  };
  [...shown][0].actions[0].run();
  await settle();
  assert.deepEqual(answers, [{ battleID: 'b-1' }]);
  assert.deepEqual(texts(), []);
  section.dispose();
  const again = new CoHostSection(page);
  await settle();
  assert.deepEqual(texts(), []);
  tell('battle', 'onBattleRequestReceived', { battleID: 'b-2', inviter: host('duet'), invitee: host('concert'), expiresAt: 60 });
  assert.deepEqual(texts(), ['Host of duet challenges you to a battle.']);
  again.dispose();
  assert.deepEqual(texts(), []);
});

/** The page of a live that is still being entered. */
function entering() {
  const list = new EventTarget();
  const session = { enter: () => new Promise(() => {}), plaza: { live: () => ({}), liveListStore: list } };
  const page = new LivePage({ session, fail: (error) => assert.fail(error) }, { live: 'concert' });
  document.body.replaceChildren(page.element);
  return { page, end: (type, detail) => list.dispatchEvent(new StoreEvent(type, { liveID: 'concert', ...detail })) };
}

test('a live that ends while its page is loaded is shown as ended', async () => {
  const { page, end } = entering();
  end('onLiveEnded', { reason: 'endedByHost' });
  await settle();
  assert.match(page.element.textContent, /^The live has endedThe host ended it\./);
});

test('the end of a live is told in plain words where its figures cannot be shown', async () => {
  const { page, end } = entering();
  const statistics = { get liveDuration() { throw new Error('nothing was loaded'); } };
  end('onLiveEnded', { reason: 'endedByHost', statistics });
  await settle();
  assert.equal(page.element.textContent, 'The live has endedBack to the plaza');
});
