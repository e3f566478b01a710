// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../support/fake-clock.js';
import { makePage } from '../support/fake-page.js';
import { showLanguage } from '../support/texts.js';

makePage();
const timers = new Set();
globalThis.setInterval = (action) => {
  timers.add(action);
  return action;
};
globalThis.clearInterval = (action) => timers.delete(action);
await showLanguage();
const { host, openRequest: open, owner } = await import('../support/owner.js');
const { CoHostSection } = await import('../../pages/host/co-host-section.js');

const received = (name, expiresAt = 30) => ({ inviter: host(name), extensionInfo: '', expiresAt });
const challenge = (battleID, name, expiresAt = 30) => ({ battleID, inviter: host(name), invitee: host('concert'), durationSeconds: 60, expiresAt });
/** The panel of an owner, whose server gives these answers to reads. */
async function make(answers = {}) {
  const all = owner();
  Object.assign(all.open, answers);
  await all.session.enter('concert');
  const calls = [];
  for (const [store, names] of Object.entries({
    coHost: ['acceptHostConnection', 'rejectHostConnection', 'cancelHostConnection', 'requestHostConnection'],
    battle: ['acceptBattle', 'rejectBattle', 'cancelBattleRequest'],
  })) for (const name of names) all.stores[store][name] = async (detail) => { calls.push([name, detail]); };
  const section = new CoHostSection(all.page);
  await settle();
  const { list, element } = section.requests;
  const rows = () => list.element.children.filter(({ textContent }) => textContent).map(({ textContent }) => textContent);
  const press = async (row, text) => {
    const buttons = list.element.children[row].querySelectorAll().filter(({ tag }) => tag === 'button');
    buttons.find(({ textContent }) => textContent === text).dispatchEvent(new Event('click'));
    await settle();
  };
  /** Advances the clock by seconds. */
  const pass = async (seconds) => {
    for (let second = 0; second < seconds; second += 1) {
      all.session.plaza.serverTime += 1000;
      for (const action of timers) action();
      await settle();
    }
  };
  return { ...all, section, element, calls, rows, press, pass };
}

/** The text of a row for an incoming (`asks`) or outgoing (`mine`) request. It begins with the avatar's initials. */
const asks = (name, what, time) => `H${name[0].toUpperCase()}Host of ${name}${time} · ${what}AcceptDecline`;
const mine = (name, what, time) => `H${name[0].toUpperCase()}Host of ${name}${time} · ${what}Withdraw`;

test('requests stay in the list when the questions about them are gone, with the time that is left', async () => {
  const { rows, shown, tell, element, pass } = await make();
  assert.ok(element.hidden);
  tell('coHost', 'onCoHostRequestReceived', received('duet', 90));
  tell('coHost', 'onCoHostRequestReceived', received('trio'));
  tell('battle', 'onBattleRequestReceived', challenge('b-1', 'duet', 20));
  for (const question of shown) question.gone();
  shown.clear();
  assert.ok(!element.hidden);
  assert.deepEqual(rows(), [
    asks('duet', 'wants to connect', '1:30'), asks('trio', 'wants to connect', '0:30'),
    asks('duet', 'challenges you to a battle', '0:20'),
  ]);
  await pass(1);
  assert.deepEqual(rows()[0], asks('duet', 'wants to connect', '1:29'));
  assert.equal(shown.size, 0, 'each is asked about once');
});

test('an answer from the list goes to the request in its row', async () => {
  const { rows, press, calls, tell } = await make();
  for (const name of ['duet', 'trio', 'quartet']) tell('coHost', 'onCoHostRequestReceived', received(name));
  tell('battle', 'onBattleRequestReceived', challenge('b-1', 'duet'));
  tell('battle', 'onBattleRequestReceived', challenge('b-2', 'trio'));
  await press(1, 'Accept');
  await press(1, 'Decline');
  await press(2, 'Decline');
  await press(1, 'Accept');
  assert.deepEqual(calls, [
    ['acceptHostConnection', { fromHostLiveID: 'trio' }], ['rejectHostConnection', { fromHostLiveID: 'quartet' }],
    ['rejectBattle', { battleID: 'b-2' }], ['acceptBattle', { battleID: 'b-1' }],
  ]);
  assert.deepEqual(rows(), [asks('duet', 'wants to connect', '0:30')]);
});

test('an answer that fails leaves the request in the list, unless it has ended', async () => {
  const still = { sent: [], received: [open('duet', 'concert', 30)], at: 1 };
  const { rows, press, stores, failed, open: server } = await make({ 'cohost.requests': still });
  stores.coHost.acceptHostConnection = async () => { throw new Error('no'); };
  await press(0, 'Accept');
  assert.equal(failed.length, 1);
  assert.deepEqual(rows(), [asks('duet', 'wants to connect', '0:30')]);
  server['cohost.requests'] = { sent: [], received: [], at: 2 };
  await press(0, 'Accept');
  assert.deepEqual(rows(), []);
});

test('a request that is answered twice at once is answered once', async () => {
  const { press, stores, shown, tell } = await make();
  let count = 0;
  stores.coHost.acceptHostConnection = () => {
    count += 1;
    return new Promise(() => {});
  };
  tell('coHost', 'onCoHostRequestReceived', received('duet'));
  [...shown][0].actions[0].run();
  await press(0, 'Accept');
  assert.equal(count, 1);
});

const ends = {
  'withdrawn': (tell) => tell('coHost', 'onCoHostRequestCancelled', { inviter: host('duet'), invitee: host('concert') }),
  'out of time, as the server says': (tell) => tell('coHost', 'onCoHostRequestTimeout', { inviter: host('duet'), invitee: host('concert') }),
  'accepted on another device': (tell) => tell('coHost', 'onCoHostUserJoined', { userInfo: host('duet') }),
  'out of time by the clock': (tell, pass) => pass(30),
};
for (const [name, end] of Object.entries(ends)) {
  test(`a request to connect leaves the list and its question when it is ${name}`, async () => {
    const other = { sent: [], received: [open('trio', 'concert', 90)], at: 1 };
    const { rows, texts, tell, pass } = await make({ 'cohost.requests': other });
    tell('coHost', 'onCoHostRequestReceived', received('duet'));
    assert.equal(rows().length, 2);
    await end(tell, pass);
    assert.deepEqual(rows().map((row) => row.includes('trio')), [true]);
    assert.deepEqual(texts().filter((text) => text.includes('duet wants')), []);
  });
}

for (const [name, tellEnd] of Object.entries({
  Cancelled: (tell) => tell('battle', 'onBattleRequestCancelled', challenge('b-1', 'duet')),
  Timeout: (tell) => tell('battle', 'onBattleRequestTimeout', challenge('b-1', 'duet')),
  started: (tell) => tell('battle', 'onBattleStarted', { battleInfo: { battleID: 'b-1' }, inviter: host('duet'), invitees: [] }),
})) {
  test(`a battle request leaves the list when it ends: ${name}`, async () => {
    const { rows, texts, tell } = await make();
    tell('battle', 'onBattleRequestReceived', challenge('b-1', 'duet'));
    tell('battle', 'onBattleRequestReceived', challenge('b-2', 'duet'));
    tellEnd(tell);
    assert.equal(rows().length, 1);
    assert.equal(texts().filter((text) => text.includes('challenges')).length, 1);
    tell('battle', 'onBattleRequestReceived', challenge('b-1', 'duet'));
    assert.equal(rows().length, 2);
  });
}

test('after a reload of the page the requests of both sides are there again', async () => {
  const { rows, press, calls } = await make({
    'cohost.requests': { sent: [open('concert', 'trio', 12)], received: [open('duet', 'concert', 30)], at: 1 },
    'battle.requests': {
      sent: [open('concert', 'duet', 15, { battle: 'b-1', hasAccepted: false }),
        open('concert', 'solo', 15, { battle: 'b-1', hasAccepted: true })],
      received: [open('duet', 'concert', 25, { battle: 'b-2', hasAccepted: false }),
        open('solo', 'concert', 25, { battle: 'b-3', hasAccepted: true })], at: 1,
    },
  });
  assert.deepEqual(rows(), [
    asks('duet', 'wants to connect', '0:30'), mine('trio', 'asked to connect', '0:12'),
    asks('duet', 'challenges you to a battle', '0:25'), mine('duet', 'asked for a battle', '0:15'),
  ]);
  await press(3, 'Withdraw');
  await press(1, 'Withdraw');
  assert.deepEqual(calls, [
    ['cancelBattleRequest', { battleId: 'b-1', userIdList: ['host of duet'] }],
    ['cancelHostConnection', { toHostLiveID: 'trio' }],
  ]);
  assert.equal(rows().length, 2);
});

test('what comes or ends while the open requests are read is not undone by the answer', async () => {
  const { rows, section, session, tell } = await make();
  tell('coHost', 'onCoHostRequestReceived', received('duet'));
  const answers = [];
  session.plaza.call = (method) => new Promise((resolve) => answers.push(() => resolve(
    { sent: [], received: method === 'cohost.requests' ? [open('duet', 'concert', 30), open('solo', 'concert', 30)] : [], at: 1 })));
  void section.requests.read();
  tell('coHost', 'onCoHostRequestCancelled', { inviter: host('duet'), invitee: host('concert') });
  tell('coHost', 'onCoHostRequestReceived', received('trio'));
  for (const answer of answers) answer();
  await settle();
  assert.deepEqual(rows(), [asks('trio', 'wants to connect', '0:30'), asks('solo', 'wants to connect', '0:30')]);
});

test('a request that another device has declined is found by the next read', async () => {
  const open1 = { sent: [], received: [open('duet', 'concert', 90)], at: 1 };
  const { rows, pass, open: server } = await make({ 'cohost.requests': open1 });
  await pass(9);
  server['cohost.requests'] = { sent: [], received: [], at: 2 };
  assert.equal(rows().length, 1);
  await pass(1);
  assert.deepEqual(rows(), []);
});

test('a first read that fails is made again', async () => {
  const { rows, pass, open: server } = await make({ 'cohost.requests': new Error('away') });
  assert.deepEqual(rows(), []);
  server['cohost.requests'] = { sent: [open('concert', 'duet', 90)], received: [], at: 1 };
  await pass(10);
  assert.deepEqual(rows(), [mine('duet', 'asked to connect', '1:20')]);
});

test('an own request that is sent is listed until it is answered', async () => {
  const { rows, section, tell } = await make();
  section.requests.asked({ kind: 'battle', host: host('duet'), battleID: 'b-1' }, 30);
  section.requests.asked({ kind: 'battle', host: host('trio'), battleID: 'b-1' }, 30);
  section.requests.asked({ kind: 'coHost', host: host('solo') }, 30);
  assert.deepEqual(rows(), [mine('duet', 'asked for a battle', '0:30'), mine('trio', 'asked for a battle', '0:30'), mine('solo', 'asked to connect', '0:30')]);
  tell('battle', 'onBattleRequestReject', { battleID: 'b-1', inviter: host('concert'), invitee: host('trio') });
  tell('coHost', 'onCoHostRequestRejected', { invitee: host('solo') });
  assert.deepEqual(rows(), [mine('duet', 'asked for a battle', '0:30')]);
  tell('battle', 'onBattleNotStarted', { battleID: 'b-1' });
  assert.deepEqual(rows(), []);
});

test('many requests are all listed, and few asked about at once', async () => {
  const { rows, texts, tell } = await make();
  for (let number = 0; number < 6; number += 1) tell('coHost', 'onCoHostRequestReceived', received(`live-${number}`));
  assert.equal(rows().length, 6);
  assert.equal(texts().length, 3);
});
