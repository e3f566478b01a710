// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RowWindow } from '../../pages/chat/row-window.js';
import { actionsFor } from '../../pages/host/actions.js';
import { isOther } from '../../pages/host/running-live.js';
import { clock, compactCount, initials, nameOf } from '../../pages/lib/format.js';
import { byteCount, limitBytes } from '../../pages/lib/limits.js';
import { parsePlace, placeAddress } from '../../pages/lib/router.js';
import { matches } from '../../pages/plaza/search.js';
import { loudness } from '../../pages/live/speech.js';
import { battleState, followBattle } from '../../pages/stage/battle-plan.js';
import { place, stagePlan } from '../../pages/stage/stage-plan.js';

test('an address names a place, and what names none is the plaza, which tells of it', () => {
  assert.deepEqual(parsePlace('#/live/concert'), { page: 'live', live: 'concert' });
  assert.deepEqual(parsePlace(placeAddress({ page: 'live', live: '#1?&%' })), { page: 'live', live: '#1?&%' });
  assert.deepEqual(parsePlace('#/host'), { page: 'host' });
  for (const plaza of ['', '#', '#/', '#/?a=b']) assert.deepEqual(parsePlace(plaza), { page: 'plaza', isUnknown: false }, plaza);
  for (const bad of ['#/live/', '#/live/a b', '#/live/%E4%BD%A0', '#/live/%', '#/live/%E0%A4%A', '#/live/a%3Cb%3E%20', `#/live/${'x'.repeat(49)}`, '#/x/y', '#/host/x']) {
    assert.deepEqual(parsePlace(bad), { page: 'plaza', isUnknown: true }, bad);
  }
});

test('counts, times and initials are short', () => {
  assert.equal(compactCount(9999, 'en'), '9,999');
  assert.equal(compactCount(12_345, 'en'), '12.3K');
  assert.equal(compactCount(12_345, 'zh'), '1.2万');
  assert.equal(compactCount(-1, 'en'), '0');
  assert.equal(clock(65_000), '1:05');
  assert.equal(clock(3_605_000), '1:00:05');
  assert.equal(clock(-5), '0:00');
  assert.equal(nameOf({ userID: 'u', userName: '\u202eevil\u2066' }), 'evil');
  assert.equal(nameOf({ userID: 'u', userName: '' }), 'u');
  assert.equal(nameOf({ userID: 'u', userName: '\u202e\u2066' }), 'u');
  assert.equal(nameOf(undefined), '');
  assert.deepEqual(['Mira Solberg', '林小满', '𠮷野', '', 'x'].map(initials), ['MS', '林', '𠮷', '?', 'X']);
});

test('bytes are counted as the limits of the server count them', () => {
  assert.deepEqual(['', 'abc', '直', '𠮷', '"', 'a\\b'].map((text) => byteCount(text, { isPlain: true })), [0, 3, 3, 4, 2, 4]);
  assert.deepEqual(['"', 'a\\b'].map((text) => byteCount(text, { isPlain: false })), [1, 3]);
});

test('a field says what is wrong with its text, first of all what the server would reject', () => {
  const said = (value, options) => {
    const input = Object.assign(new EventTarget(), { value, setCustomValidity: (text) => { input.text = text; } });
    limitBytes(input, 9, options).dispatchEvent(new Event('input'));
    return input.text;
  };
  const check = (text) => !text && 'nothing is there';
  // Without a page, each text is its key.
  assert.deepEqual(['ok', '  ', 'a\tb', 'a\u0000b', 'a\u007fb', '\tab ', 'x'.repeat(10)].map((text) => said(text, { isPlain: true, check })), [
    '', 'nothing is there', 'app.noControl', 'app.noControl', 'app.noControl', '', 'app.tooLong',
  ]);
  assert.equal(said('a\tb', { isPlain: false }), '', 'what is no plain text may have them');
});

test('a search finds names in any width and case, by all of its words', () => {
  const info = { liveID: 'l1', liveName: 'Ｌate Night 音乐', liveOwner: { userID: 'u', userName: 'Mira' } };
  for (const query of ['late', 'NIGHT late', '音乐', 'mira', 'l1', '', '  ']) assert.ok(matches(info, query), query);
  for (const query of ['later', 'mira x']) assert.ok(!matches(info, query), query);
});

test('the rows in view are found, and the list keeps its last rows', () => {
  const rows = new RowWindow({ capacity: 10, estimate: 20 });
  assert.equal(rows.add(Array.from({ length: 10 }, (_, index) => index)), 0);
  assert.equal(rows.total, 200);
  assert.deepEqual(rows.range(100, 40, 0), { first: 4, end: 7, top: 80 });
  rows.measured(rows.rows[0], 50);
  assert.equal(rows.total, 230);
  assert.equal(rows.add([10]), 50);
  assert.equal(rows.rows[0].value, 1);
  assert.equal(rows.total, 200);
  assert.deepEqual(rows.range(0, 1000, 0), { first: 0, end: 10, top: 0 });
});

const user = (userID, more = {}) => ({ userID, userName: userID, avatarURL: '', role: 'generalUser', microphoneStatus: 'on', userSuspendStatus: 'none', ...more });
const seat = (liveID, index, region, userInfo = user('')) => ({ liveID, index, isLocked: false, userInfo, region: { x: 0, y: 0, w: 100, h: 100, zorder: 0, ...region } });

test('a stage shows seats that have a size, the lowest first, with hosts and scores', () => {
  const host = user('h', { role: 'owner', liveID: 'a' });
  const other = user('o', { role: 'owner', liveID: 'b' });
  const plan = stagePlan({
    liveID: 'a', hosts: [host, other], scores: { h: 5, o: 7 },
    seatList: [seat('a', 0, { zorder: 1 }, host), seat('a', 1, {}), seat('a', 2, { w: 0 }, user('x')),
      seat('b', 0, {}, other)],
  });
  assert.deepEqual(plan.map(({ key, isCoHost, isOwner, score }) => [key, isCoHost, isOwner, score]), [
    ['a/1', false, false, undefined], ['b/0', true, true, 7], ['a/0', false, true, 5],
  ]);
});

test('seats that lie over another one are counted, and stand two above each other', () => {
  const guests = [3, 1, 2].map((index) => seat('a', index, { zorder: 1 }, user(`g${index}`)));
  const plan = stagePlan({ liveID: 'a', hosts: [], seatList: [...guests, seat('a', 0, {}, user('h'))] });
  assert.deepEqual(plan.map(({ key, float }) => [key, float]), [['a/0', undefined], ['a/3', 0], ['a/1', 1], ['a/2', 2]]);
  const places = plan.map(({ seat: { region }, float }) => place(region, { w: 100, h: 200 }, float));
  assert.deepEqual(places.map((one) => [one['--column'], one['--row']]), [['0', '0'], ['0', '0'], ['0', '1'], ['1', '0']]);
  assert.equal(places[3]['--h'], '50.000%', 'the region of the server is what a wider window shows');
});

test('a battle is shown from its start to its result, also of who leaves it', () => {
  const [h, o] = [user('h', { liveID: 'a' }), user('o', { liveID: 'b' })];
  const follow = (before, state) => followBattle(before, state, 'a', [h, o]);
  let shown = follow(undefined, { currentBattleInfo: null, battleUsers: [], battleScore: {} });
  assert.equal(shown, undefined);
  shown = follow(shown, { currentBattleInfo: { battleID: 'b', endTime: 10 }, battleUsers: [h, o], battleScore: { h: 30, o: 10 } });
  assert.deepEqual(battleState(shown, 4000).sides.map(({ share }) => share), [0.75, 0.25]);
  assert.equal(battleState(shown, 4000).left, 6000);
  shown = follow(shown, { currentBattleInfo: { battleID: 'b', endTime: 10 }, battleUsers: [h], battleScore: { h: 30, o: 10 } });
  assert.deepEqual(shown.sides.map(({ hasLeft }) => hasLeft), [false, true]);
  assert.equal(battleState(shown, 4000).winner, undefined);
  const draw = follow(shown, { currentBattleInfo: null, battleUsers: [], battleScore: { h: 30, o: 30 } });
  assert.equal(battleState(draw, 11_000).winner, undefined);
  const won = follow(shown, { currentBattleInfo: null, battleUsers: [], battleScore: { h: 30, o: 31 } });
  assert.equal(battleState(won, 11_000).winner.user.userID, 'o');
});

test('the sides of a battle stand as the seats do, the own one first: in the window of the inviter and of the invitee', () => {
  const [inviter, invitee, third] = ['a', 'b', 'c'].map((liveID) => user(`host of ${liveID}`, { liveID }));
  const hosts = [inviter, invitee, third];
  const state = { currentBattleInfo: { battleID: 'x', endTime: 10 }, battleUsers: [inviter, third, invitee],
    battleScore: { 'host of a': 1, 'host of b': 2, 'host of c': 3 } };
  const scores = (battle) => battle.sides.map(({ score }) => score);
  for (const [live, order] of [['a', [1, 2, 3]], ['b', [2, 1, 3]], ['c', [3, 1, 2]]]) {
    let shown = followBattle(undefined, state, live, hosts);
    assert.deepEqual(scores(shown), order, live);
    // A side that leaves the battle or joins it later has the place that its seats have.
    shown = followBattle(shown, { ...state, battleUsers: [invitee] }, live, hosts);
    assert.deepEqual(scores(shown), order, live);
    assert.deepEqual(scores(followBattle(followBattle(undefined, { ...state, battleUsers: [third] }, live, hosts), state, live, hosts)), order, live);
    // The result keeps its order after the hosts have disconnected.
    assert.deepEqual(scores(followBattle(shown, { currentBattleInfo: null, battleUsers: [], battleScore: state.battleScore }, live, [])), order, live);
  }
  // A disconnected side has no seats, so it comes after the others.
  const shown = followBattle(followBattle(undefined, state, 'a', hosts), { ...state, battleUsers: [inviter, third] }, 'a', [inviter, third]);
  assert.deepEqual(scores(shown), [1, 3, 2]);
});

test('loudness goes from silence to the loudest in decibels', () => {
  const tone = (strength) => Float32Array.from({ length: 1024 }, (_, index) => (index % 2 ? strength : -strength));
  assert.deepEqual([0, 0.0001, 0.001, 0.0316228, 1].map((strength) => loudness(tone(strength))), [0, 0, 0, 50, 100]);
});

test('a live that runs already is compared by all that was asked for', () => {
  const wanted = { liveID: 'a', liveName: 'Evening', coverURL: '', notice: '', categoryList: [1], seatTemplate: 600,
    seatMode: 'apply' };
  const running = { ...wanted, categoryList: [1], maxSeatCount: 9, audienceCount: 4 };
  assert.ok(!isOther(running, wanted));
  for (const change of [{ seatTemplate: 800 }, { categoryList: [2] }, { coverURL: 'http://page/a.svg' }, { seatMode: 'free' }, { notice: 'hi' }, { maxSeatCount: 8 }]) {
    assert.ok(isOther(running, { ...wanted, ...change }), JSON.stringify(change));
  }
});

test('what one may do with a person follows from both roles', () => {
  const info = { liveOwner: { userID: 'o' }, admins: ['a1', 'a2'] };
  const of = (role, self, userID) => actionsFor({ role, self, user: { userID }, info, isMuted: false });
  assert.deepEqual(of('viewer', 'v', 'w'), []);
  assert.deepEqual(of('owner', 'o', 'o'), []);
  assert.deepEqual(of('admin', 'a1', 'o'), []);
  assert.deepEqual(of('admin', 'a1', 'a2'), []);
  assert.deepEqual(of('admin', 'a1', 'v'), ['invite', 'mute', 'kick', 'ban']);
  assert.deepEqual(of('owner', 'o', 'v'), ['invite', 'mute', 'makeAdmin', 'kick', 'ban']);
  assert.deepEqual(of('owner', 'o', 'a1'), ['invite', 'mute', 'revokeAdmin', 'kick', 'ban']);
});
