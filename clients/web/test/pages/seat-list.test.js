// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Store } from '../../src/stores/store.js';
import { settle } from '../support/fake-clock.js';
import { makePage } from '../support/fake-page.js';
import { showLanguage } from '../support/texts.js';

makePage();
await showLanguage();
const { SeatList } = await import('../../pages/host/seat-list.js');

const seat = (index, userID = '', isLocked = false) => ({ liveID: 'concert', index, isLocked, userInfo: { userID, userName: userID } });

/** The buttons of a list of these seats, and the calls to the server, which replies when the test says so. */
function list(...seatList) {
  const asked = [];
  const store = new Store({ seatList });
  for (const name of ['lockSeat', 'unlockSeat']) {
    store[name] = ({ seatIndex }) => new Promise((resolve) => asked.push({ name, seatIndex, resolve }));
  }
  const page = { liveID: 'concert', stores: { seat: store },
    list: { state: { currentLive: { liveOwner: { userID: 'mira' } } } } };
  const seats = new SeatList(page);
  return { asked, buttons: seats.element.querySelectorAll().filter(({ tag }) => tag === 'button') };
}

test('the lock of a taken seat shows that it takes somebody off', () => {
  const { buttons } = list(seat(0, 'mira'), seat(1), seat(2, 'noor'), seat(3, '', true));
  assert.deepEqual(buttons.map((button) => [button.textContent, button.getAttribute('aria-label')]), [
    ['Lock', 'Lock seat 2'], ['Take off and lock', 'Take off and lock: noor, seat 3'], ['Unlock', 'Unlock seat 4'],
  ]);
});

test('a seat is locked once, however often its button is pressed', async () => {
  const { asked, buttons: [button] } = list(seat(2, 'noor'));
  for (let time = 0; time < 3; time += 1) button.dispatchEvent(new Event('click'));
  assert.deepEqual(asked.map(({ name, seatIndex }) => [name, seatIndex]), [['lockSeat', 2]]);
  asked[0].resolve();
  await settle();
  button.dispatchEvent(new Event('click'));
  assert.equal(asked.length, 2);
});
