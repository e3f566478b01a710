// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreEvent } from '../../src/index.js';
import { settle } from '../support/fake-clock.js';
import { makePage } from '../support/fake-page.js';
import { showLanguage } from '../support/texts.js';

makePage();
await showLanguage();
// Loaded here, so that no test waits for the file system.
await import('../../pages/live/ending.js');
const { CoHostSection } = await import('../../pages/host/co-host-section.js');
const { LivePage } = await import('../../pages/live/live-page.js');
const { host, openRequest, owner } = await import('../support/owner.js');

const ways = { 'who enters again': (session) => session.enter('concert'),
  'who goes live': (session) => session.goLive({ liveID: 'concert' }) };
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
  // The store publishes it, too.
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

/** The page of a live that the user is still entering. */
function entering() {
  const list = new EventTarget();
  const session = { enter: () => new Promise(() => {}), plaza: { live: () => ({}), liveListStore: list } };
  const places = [];
  const titles = [];
  const drawTitle = () => titles.push(page.element.querySelectorAll().find(({ tag }) => tag === 'h1').textContent);
  const page = new LivePage({ session, router: { go: (place) => places.push(place) }, drawTitle, fail: (error) => assert.fail(error) }, { live: 'concert' });
  document.body.replaceChildren(page.element);
  return { page, places, titles, end: (type, detail) => list.dispatchEvent(new StoreEvent(type, { liveID: 'concert', ...detail })) };
}

test('a live that ends while its page is loaded is shown as ended', async () => {
  const { page, titles, end } = entering();
  end('onLiveEnded', { reason: 'endedByHost' });
  await settle();
  assert.deepEqual(titles, ['The live has ended'], 'so is the window named');
  assert.match(page.element.textContent, /^The live has endedThe host ended it\./);
});

test('the end of a live is told in plain words where its figures cannot be shown', async () => {
  const { page, titles, end } = entering();
  const statistics = { get liveDuration() { throw new Error('nothing was loaded'); } };
  end('onLiveEnded', { reason: 'endedByHost', statistics });
  await settle();
  assert.equal(page.element.textContent, 'The live has endedBack to the plaza');
  assert.deepEqual(titles, ['The live has ended']);
});

for (const [reason, text] of Object.entries({
  byAdmin: 'You were put out of the live.Back to the plaza',
  byServer: 'You were put out of the live.The app did it.Back to the plaza',
  byLoggedOnOtherDevice: 'You are not in the live any more.You entered this live in another window or on another device.Enter againBack to the plaza',
  forNetworkDisconnected: 'You are not in the live any more.The connection was lost, and then there was no way back. The live may be full.Enter againBack to the plaza',
  forJoinRoomStatusInvalidDuringOffline: 'You are not in the live any more.The connection was lost for too long.Enter againBack to the plaza',
  forCountOfJoinedRoomsExceedLimit: 'You are not in the live any more.Enter againBack to the plaza',
})) {
  test(`who is not in the live any more is told why, and may enter again if nobody has forbidden it: ${reason}`, async () => {
    const { page, places, end } = entering();
    end('onKickedOutOfLive', { reason });
    await settle();
    assert.equal(page.element.textContent, text);
    const again = page.element.querySelectorAll().find(({ textContent }) => textContent === 'Enter again');
    again?.dispatchEvent(new Event('click'));
    assert.deepEqual(places, text.includes('Enter again') ? [{ page: 'live', live: 'concert' }] : []);
  });
}

test('a dialog of a live ends with it', async () => {
  const { end } = entering();
  const { querySelectorAll } = document;
  let closed = 0;
  document.querySelectorAll = (selector) => (selector === 'dialog' ? [{ close: () => { closed += 1; } }] : []);
  end('onLiveEnded', { reason: 'endedByHost' });
  document.querySelectorAll = querySelectorAll;
  assert.equal(closed, 1);
  // A page that was still being loaded is not opened either.
  const { openState } = await import('../../pages/live/sheets.js');
  const before = document.body.children.length;
  await openState({ isGone: true, shell: { fail: (error) => assert.fail(error) } });
  assert.equal(document.body.children.length, before);
});

test('who presses twice while a dialog is loaded opens one', async () => {
  const { openAccount } = await import('../../pages/live/sheets.js');
  const before = document.body.children.length;
  const shell = { session: { user: { userID: 'carol', userName: 'Carol' } }, fail: (error) => assert.fail(error) };
  await Promise.all([openAccount({ shell }), openAccount({ shell })]);
  assert.equal(document.body.children.length, before + 1);
  // A user whose session has ended meanwhile has no account dialog.
  await openAccount({ shell: { ...shell, session: { user: undefined } } });
  assert.equal(document.body.children.length, before + 1);
});
