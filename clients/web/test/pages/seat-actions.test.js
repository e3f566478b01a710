// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Store } from '../../src/stores/store.js';
import { makePage } from '../support/fake-page.js';
import { showLanguage } from '../support/texts.js';

makePage();
const { SeatActions } = await import('../../pages/live/seat-actions.js');

/** The page of a live in which Carol is on a seat or watches, and the messages over the page. */
function enter({ live = 'concert', sits = true, role = 'viewer' } = {}) {
  const seat = { liveID: live, index: 1, userInfo: { userID: sits ? 'carol' : '', microphoneStatus: 'on',
    cameraStatus: 'on' } };
  const said = [];
  const page = {
    liveID: live, role, isGone: false,
    stores: { coGuest: new EventTarget(), seat: new Store({ seatList: [seat] }) },
    list: new Store({ currentLive: { liveID: live, seatMode: 'free', maxSeatCount: 9, seatTemplate: 600, admins: [] } }),
    shell: { session: { user: { userID: 'carol' } }, say: (text) => said.push(text),
      fail: (error) => assert.fail(error) },
  };
  return { page, said, actions: new SeatActions(page) };
}

for (const [language, text] of [['en', 'You left your seat when the page was loaded again.'], ['zh', '页面重新加载时，你已下麦。']]) {
  test(`a guest whose page was loaded again is told once that the seat is left: ${language}`, async () => {
    await showLanguage(language);
    enter().actions.keepPlace();
    assert.deepEqual(enter({ sits: false }).said, [text]);
    assert.deepEqual(enter({ sits: false }).said, []);
  });
}

test('nothing is told to who did not sit, to the owner, after the live, nor in another live', () => {
  enter({ sits: false }).actions.keepPlace();
  enter({ role: 'owner' }).actions.keepPlace();
  const { page, actions } = enter();
  page.isGone = true;
  actions.keepPlace();
  assert.deepEqual(enter({ sits: false }).said, []);
  enter().actions.keepPlace();
  assert.deepEqual(enter({ live: 'duet', sits: false }).said, []);
  assert.deepEqual(enter({ sits: false }).said, [], 'who went on to another live knows it');
});
