// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { LaneScheduler } from '../../pages/barrage/lanes.js';
import { GiftQueue } from '../../pages/effects/gift-queue.js';
import { settle } from '../support/fake-clock.js';
import { makePage } from '../support/fake-page.js';
import { showLanguage } from '../support/texts.js';

makePage();
await showLanguage();
mock.timers.enable({ apis: ['setTimeout'] });
const { GiftShow } = await import('../../pages/effects/gift-show.js');
const { openGifts } = await import('../../pages/live/gift-sheet.js');

const user = (number) => ({ userID: `u${number}`, userName: `User ${number}` });
const kinds = ['rose', 'boat', 'castle'].map((giftID) => ({ giftID, name: giftID, coins: 1, iconURL: '' }));
const given = (number, kind = 0, count = 1) => ({ user: user(number), gift: kinds[kind], count });

test('gifts that wait add up by sender, and beyond a bound by kind; none is lost', () => {
  const queue = new GiftQueue();
  for (let number = 0; number < 1000; number += 1) queue.add(given(number, number % 3, 2));
  assert.equal(queue.length, 23);
  queue.add(given(0, 0, 5));
  const entries = [];
  while (queue.length > 0) entries.push(queue.take());
  assert.deepEqual([entries[0].user.userID, entries[0].count], ['u0', 7]);
  assert.deepEqual(entries.slice(20).map(({ user: sender, gift }) => [sender, gift.giftID]), [[undefined, 'castle'], [undefined, 'rose'], [undefined, 'boat']]);
  assert.equal(entries.reduce((sum, { count }) => sum + count, 0), 2005);
});

/** A gift show, which records the highest count of each row and the gifts that have crossed the stage. */
function show() {
  const crossed = [];
  const barrage = { waitingGifts: 0, show: (text) => crossed.push(text) };
  const gifts = new GiftShow(barrage);
  const rows = new Map();
  const look = () => {
    for (const row of gifts.element.children) rows.set(row, Number(/×(\d+)$/.exec(row.textContent)[1]));
  };
  const pass = (milliseconds) => {
    for (let passed = 0; passed < milliseconds; passed += 20) {
      mock.timers.tick(20);
      look();
    }
  };
  return { gifts, barrage, crossed, pass, total: () => [...rows.values()].reduce((sum, count) => sum + count, 0) };
}

test('200 gifts of as many senders in a minute are all shown soon after the last one', () => {
  const { gifts, crossed, pass, total } = show();
  for (let number = 0; number < 200; number += 1) {
    gifts.add(given(number, number % 3));
    pass(300);
  }
  pass(20_000);
  assert.equal(total(), 200);
  assert.equal(gifts.element.children.length, 0, 'all are gone again');
  assert.equal(crossed.length, 200);
});

test('one who gives on and on keeps no others waiting', () => {
  const { gifts, pass, total } = show();
  for (let number = 1; number <= 10; number += 1) gifts.add(given(number));
  for (let round = 0; round < 100; round += 1) {
    gifts.add(given(1));
    gifts.add(given(2));
    pass(200);
  }
  pass(10_000);
  assert.equal(total(), 210);
});

test('one who waits is shown while two others give on and on', () => {
  const { gifts, pass } = show();
  const names = () => gifts.element.textContent;
  const give = (rounds) => {
    for (let round = 0; round < rounds; round += 1) {
      gifts.add(given(1));
      gifts.add(given(2));
      pass(200);
    }
  };
  give(50);
  assert.match(names(), /User 1.*User 2/, 'while nobody waits their rows stay');
  gifts.add(given(3));
  give(18);
  assert.match(names(), /User 3/);
  // The waiting gifts are shown now.
  give(18);
  assert.match(names(), /User 1/);
  assert.match(names(), /User 2/);
});

test('a gift that comes just before the row of its sender goes is not shown too shortly', () => {
  const { gifts, pass } = show();
  gifts.add(given(1));
  gifts.add(given(2));
  gifts.add(given(3));
  pass(2900);
  gifts.add(given(1));
  assert.doesNotMatch(gifts.element.textContent, /×2/);
  pass(800);
  assert.match(gifts.element.textContent, /User 3.*User 1/, 'it has a row of its own');
  pass(2900);
  gifts.add(given(3));
  assert.match(gifts.element.textContent, /User 3rose×2/, 'while nobody waits the row stays for it');
  pass(3000);
  assert.match(gifts.element.textContent, /User 3rose×2/);
});

test('gifts cross the stage as lanes become free, and add up meanwhile', () => {
  const { gifts, barrage, crossed, pass } = show();
  gifts.add(given(1));
  barrage.waitingGifts = 3;
  for (let number = 0; number < 100; number += 1) gifts.add(given(number));
  assert.deepEqual(crossed, ['User 1 sent 1 × rose']);
  barrage.waitingGifts = 0;
  pass(400);
  assert.equal(crossed.length, 22);
  assert.equal(crossed.at(-1), 'Several people sent 80 × rose');
});

test('messages cross also while gifts wait for lanes', () => {
  const scheduler = new LaneScheduler({ lanes: 3, width: 100, duration: 8000, patience: 500 });
  const placed = [];
  for (let now = 0; now < 60_000; now += 16) {
    scheduler.expire(now);
    if (scheduler.waitingGifts < 3) scheduler.offer({ width: 50, isGift: true }, now);
    if (now % 160 === 0) scheduler.offer({ width: 50 }, now);
    placed.push(...scheduler.advance(now));
  }
  const texts = placed.filter(({ item }) => !item.isGift);
  assert.ok(texts.length >= 8, `${texts.length} messages have crossed`);
  assert.ok(placed.length - texts.length >= 20);
  // There are no messages, so gifts use all lanes.
  const quiet = new LaneScheduler({ lanes: 3, width: 100 });
  for (let index = 0; index < 3; index += 1) quiet.offer({ width: 50, isGift: true }, 0);
  assert.deepEqual(quiet.advance(0).map(({ lane }) => lane), [0, 1, 2]);
});

/** The gift dialog of a live, whose server replies when the test says so. */
function sheet({ usableGifts = [], isGiftEnabled = true } = {}) {
  const asked = [];
  const sent = [];
  const later = (list, then) => new Promise((resolve, reject) => list.push({ answer: () => resolve(then?.()), refuse: (codeName) => reject(Object.assign(new Error(), { codeName })) }));
  const gift = {
    state: { usableGifts, isGiftEnabled },
    setLanguage: (language) => { gift.language = language; },
    refreshUsableGifts: () => later(asked, () => { gift.state = { ...gift.state, usableGifts: [{ giftList: kinds }] }; }),
    sendGift: () => later(sent),
  };
  const failed = [];
  document.body.replaceChildren();
  const page = { stores: { gift }, shell: { fail: ({ codeName }) => failed.push(codeName) } };
  openGifts(page);
  const [dialog] = document.body.children;
  const button = (text) => dialog.querySelectorAll().find((element) => element.tag === 'button' && element.textContent === text);
  return { gift, asked, sent, failed, dialog, button };
}

const click = (element) => element.dispatchEvent(new Event('click'));

test('a gift is sent once, however often the button is pressed, and again after a rejection', async () => {
  const { asked, sent, failed, button } = sheet();
  asked[0].answer();
  await settle();
  for (let time = 0; time < 3; time += 1) click(button('Send'));
  assert.equal(sent.length, 1);
  sent[0].refuse('giftCheckFailed');
  await settle();
  assert.deepEqual(failed, ['giftCheckFailed']);
  click(button('Send'));
  click(button('Send'));
  assert.equal(sent.length, 2);
});

test('gifts that cannot be read are not said to be none, and can be read again', async () => {
  const { gift, asked, dialog, button } = sheet();
  assert.match(dialog.textContent, /Loading the gifts/);
  assert.equal(gift.language, 'en');
  asked[0].refuse('timedOut');
  await settle();
  assert.match(dialog.textContent, /could not be loaded: there was no answer in time/);
  click(button('Try again'));
  asked[1].refuse('timedOut');
  await settle();
  click(button('Try again'));
  asked[2].answer();
  await settle();
  assert.match(dialog.textContent, /boat1 coin/);
});

test('gifts are off, or there are none', async () => {
  assert.match(sheet({ isGiftEnabled: false }).dialog.textContent, /Gifts are off in this live/);
  const { gift, asked, dialog } = sheet();
  gift.refreshUsableGifts = async () => {};
  asked[0].refuse('overloaded');
  await settle();
  click(dialog.querySelectorAll().find(({ textContent, tag }) => tag === 'button' && textContent === 'Try again'));
  await settle();
  assert.match(dialog.textContent, /This app has no gifts/);
});
