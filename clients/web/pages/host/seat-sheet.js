// SPDX-License-Identifier: Apache-2.0
import { h } from '../lib/dom.js';
import { icon } from '../lib/icons.js';
import { t } from '../lib/i18n.js';
import { openSheet } from '../lib/sheet.js';

/** Locks a seat, or unlocks it. */
export async function switchLock(page, seat) {
  const { seat: store } = page.stores;
  try {
    await (seat.isLocked ? store.unlockSeat({ seatIndex: seat.index }) : store.lockSeat({ seatIndex: seat.index }));
  } catch (error) {
    page.shell.fail(error);
  }
}

/** Opens a dialog about an empty seat: a host may lock or unlock it, and an admin may also sit there. */
export function openSeat(page, seat) {
  const number = seat.index + 1;
  const button = (name, text, run) => h('button', { class: 'button', type: 'button', on: { click: () => {
    sheet.close();
    void run();
  } } }, icon(name), text);
  const sheet = openSheet(t(seat.isLocked ? 'seat.locked' : 'seat.empty', { number }), h('div', { class: 'actions list' },
    page.role === 'admin' && !seat.isLocked && button('seat', t('seat.here'), () => page.seat.sit(seat)),
    button('lock', t(seat.isLocked ? 'host.unlockSeat' : 'host.lockSeat', { number }), () => switchLock(page, seat))));
}
