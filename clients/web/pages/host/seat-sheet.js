// SPDX-License-Identifier: Apache-2.0
import { h } from '../lib/dom.js';
import { icon } from '../lib/icons.js';
import { t } from '../lib/i18n.js';
import { openSheet } from '../lib/sheet.js';

/** Shows what a host may do with an empty seat. */
export function openSeat(page, seat) {
  const number = seat.index + 1;
  const { lockSeat, unlockSeat } = page.stores.seat;
  const change = seat.isLocked ? unlockSeat : lockSeat;
  const lock = h('button', { class: 'button', type: 'button', on: { click: async () => {
    sheet.close();
    try {
      await change.call(page.stores.seat, { seatIndex: seat.index });
    } catch (error) {
      page.shell.fail(error);
    }
  } } }, icon('lock'), t(seat.isLocked ? 'host.unlockSeat' : 'host.lockSeat', { number }));
  const sheet = openSheet(t(seat.isLocked ? 'seat.locked' : 'seat.empty', { number }), h('div', { class: 'actions' }, lock));
}
