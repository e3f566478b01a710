// SPDX-License-Identifier: Apache-2.0
import { Disposer, h } from '../lib/dom.js';
import { nameOf } from '../lib/format.js';
import { icon } from '../lib/icons.js';
import { onLanguage, t } from '../lib/i18n.js';
import { KeyedList } from '../lib/keyed-list.js';
import { switchLock } from './seat-sheet.js';

/**
 * All seats of the live, with their locks. On many stages an empty seat has no region, and while lives are connected no
 * empty seat has one. So empty seats are chosen in this list.
 */
export class SeatList extends Disposer {
  constructor(page) {
    super();
    this.page = page;
    this.list = new KeyedList(h('ul', {}));
    this.element = h('section', { class: 'seats' }, h('h2', {}, icon('lock'), h('span', { t: 'live.seats' })), this.list.element);
    this.add(page.stores.seat.select(({ seatList }) => seatList, () => this.#draw()));
    this.add(onLanguage(() => this.#draw()));
  }

  #draw() {
    const { page } = this;
    const seats = page.stores.seat.state.seatList.filter(({ liveID }) => liveID === page.liveID);
    this.element.hidden = seats.length === 0;
    this.list.show(seats.map((seat) => {
      const { index, isLocked, userInfo } = seat;
      return [String(index), [isLocked, userInfo.userID, userInfo.userName], () => this.#row(seat)];
    }));
  }

  #row(seat) {
    const { index, isLocked, userInfo } = seat;
    const values = { number: index + 1, name: nameOf(userInfo) };
    const isTaken = userInfo.userID !== '';
    const change = isLocked ? 'host.unlock' : 'host.lock';
    // Locking a seat removes its occupant, which the button says. The owner's seat has no lock.
    const isOwners = userInfo.userID === this.page.list.state.currentLive.liveOwner.userID;
    const button = h('button', {
      class: `button tight${isTaken ? ' danger' : ''}`, type: 'button',
      'aria-label': t(isTaken ? 'host.lockTakenSeat' : `${change}Seat`, values),
      on: { click: async () => {
        // A second click while the call is open does nothing.
        if (button.ariaDisabled === 'true') return;
        button.ariaDisabled = 'true';
        await switchLock(this.page, seat);
        button.ariaDisabled = 'false';
      } },
    }, t(isTaken ? 'host.lockTaken' : change));
    return h('li', { class: 'person' }, h('span', { class: 'seat-text' }, t(isTaken ? 'seat.taken' : isLocked ? 'seat.locked' : 'seat.empty', values)), !isOwners && button);
  }
}
