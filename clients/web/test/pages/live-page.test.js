// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreEvent } from '../../src/index.js';
import { Store } from '../../src/stores/store.js';
import { settle } from '../support/fake-clock.js';
import { makePage } from '../support/fake-page.js';

makePage();
await import('../../pages/host/texts.js');
// Loaded before it is asked for, so that a test need not wait for the disk.
await import('../../pages/live/ending.js');
const { CoHostSection } = await import('../../pages/host/co-host-section.js');
const { LivePage } = await import('../../pages/live/live-page.js');
const { Session } = await import('../../pages/session/session.js');

const host = (liveID) => ({ userID: `host of ${liveID}`, userName: `Host of ${liveID}`, avatarURL: '', liveID });
const noConnection = { candidates: [], candidatesCursor: '', invitees: [], connected: [], mutedLives: [], coHostStatus: 'disconnected' };

/** An owner's session, whose stores tell during the entry what `meanwhile` tells, and the messages that its page shows. */
function owner(meanwhile = () => {}) {
  const stores = { coHost: new Store(noConnection), battle: new Store({ battleUsers: [] }) };
  const tell = (store, type, detail) => stores[store].dispatchEvent(new StoreEvent(type, detail));
  const session = new Session({ gateways: [], demoTokens: false }, class {});
  const state = { currentLive: { liveID: '' } };
  const enter = async ({ liveID }) => {
    state.currentLive = { liveID };
    meanwhile(tell);
    return state.currentLive;
  };
  session.plaza = {
    serverTime: 0, live: () => stores, loginStore: { state: { loginUserInfo: null } },
    liveListStore: { state, joinLive: enter, createLive: enter },
  };
  const shown = new Set();
  const say = (text, options) => {
    const message = { text, ...options };
    shown.add(message);
    return () => shown.delete(message);
  };
  const page = { liveID: 'concert', stores, shell: { session, say, fail: (error) => assert.fail(error) } };
  return { session, stores, tell, page, texts: () => [...shown].map(({ text }) => text), shown };
}

const asked = (tell) => tell('coHost', 'onCoHostRequestReceived', { inviter: host('duet'), extensionInfo: '', expiresAt: 30 });

const ways = { 'who enters again': (session) => session.enter('concert'), 'who goes live': (session) => session.goLive({ liveID: 'concert' }) };
for (const [name, enter] of Object.entries(ways)) {
  test(`an owner is asked about a request that came before the panel: ${name}`, async () => {
    const { session, page, texts, tell } = owner(asked);
    await enter(session);
    const section = new CoHostSection(page);
    assert.deepEqual(texts(), ['Host of duet wants to connect.']);
    tell('coHost', 'onCoHostRequestTimeout', { inviter: host('concert'), invitee: host('trio') });
    assert.equal(texts()[0], 'Host of duet wants to connect.', 'the end of the own request is not that of the other one');
    tell('coHost', 'onCoHostRequestTimeout', { inviter: host('duet'), invitee: host('concert') });
    assert.ok(!texts().includes('Host of duet wants to connect.'));
    section.dispose();
  });
}

test('an owner is not asked about a request that was withdrawn before the panel came', async () => {
  const { session, page, texts } = owner((tell) => {
    asked(tell);
    tell('coHost', 'onCoHostRequestCancelled', { inviter: host('duet'), invitee: host('concert') });
  });
  await session.enter('concert');
  new CoHostSection(page);
  assert.deepEqual(texts(), []);
});

test('a battle request is asked about, and answered, once', async () => {
  const { session, page, stores, texts, tell, shown } = owner((tell) => {
    tell('battle', 'onBattleRequestReceived', { battleID: 'b-1', inviter: host('duet'), invitee: host('concert'), expiresAt: 30 });
  });
  await session.enter('concert');
  const section = new CoHostSection(page);
  assert.deepEqual(texts(), ['Host of duet challenges you to a battle.']);
  const answers = [];
  stores.battle.acceptBattle = async (detail) => answers.push(detail);
  [...shown][0].actions[0].run();
  assert.deepEqual(answers, [{ battleID: 'b-1' }]);
  section.dispose();
  assert.deepEqual(texts(), []);
  new CoHostSection(page);
  assert.deepEqual(texts(), []);
  tell('battle', 'onBattleRequestReceived', { battleID: 'b-2', inviter: host('duet'), invitee: host('concert'), expiresAt: 60 });
  assert.deepEqual(texts(), ['Host of duet challenges you to a battle.']);
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
