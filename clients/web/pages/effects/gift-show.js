// SPDX-License-Identifier: Apache-2.0
import { avatar, hueClass, image, imageAddress } from '../lib/avatar.js';
import { h, setText } from '../lib/dom.js';
import { nameOf } from '../lib/format.js';
import { icon } from '../lib/icons.js';

const rows = 2;
const lasts = 3200;

/** The picture of a gift. */
export function giftIcon(gift) {
  const address = imageAddress(gift.iconURL);
  return h('span', { class: `gift-icon ${hueClass(gift.giftID)}`, 'aria-hidden': 'true' }, icon('gift'), address && image(address));
}

/**
 * Shows gifts beside the stage, two at a time. A sender's same gifts in a row add up in one row; others wait their turn,
 * and none is left out while the page is seen.
 */
export class GiftShow {
  #waiting = [];
  #shown = [];
  #timers = new Set();

  constructor() {
    this.element = h('div', { class: 'gift-show', 'aria-hidden': 'true' });
  }

  /** @param {{ user: object, gift: object, count: number }} gift */
  add({ user, gift, count }) {
    // A page in the background has slow timers, and would show hours of gifts on return; the chat has all of them.
    if (document.hidden) return;
    const key = `${user.userID} ${gift.giftID}`;
    const same = [...this.#shown, ...this.#waiting].find((entry) => entry.key === key && !entry.isGoing);
    if (same) {
      same.count += count;
      if (same.times) this.#again(same);
      return;
    }
    this.#waiting.push({ key, user, gift, count });
    this.#next();
  }

  dispose() {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #next() {
    while (this.#shown.length < rows && this.#waiting.length > 0) {
      const entry = this.#waiting.shift();
      entry.times = h('span', { class: 'gift-times numbers' }, `×${entry.count}`);
      entry.element = h('div', { class: 'gift-row' }, avatar(entry.user),
        h('span', { class: 'gift-text' }, h('strong', {}, nameOf(entry.user)), h('span', {}, entry.gift.name)),
        giftIcon(entry.gift), entry.times);
      this.#shown.push(entry);
      this.element.append(entry.element);
      this.#keep(entry);
    }
  }

  #again(entry) {
    setText(entry.times, `×${entry.count}`);
    entry.times.classList.remove('again');
    requestAnimationFrame(() => entry.times.classList.add('again'));
    clearTimeout(entry.timer);
    this.#timers.delete(entry.timer);
    this.#keep(entry);
  }

  #keep(entry) {
    entry.timer = setTimeout(() => {
      this.#timers.delete(entry.timer);
      entry.isGoing = true;
      entry.element.classList.add('going');
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        entry.element.remove();
        this.#shown = this.#shown.filter((other) => other !== entry);
        this.#next();
      }, 320);
      this.#timers.add(timer);
    }, lasts);
    this.#timers.add(entry.timer);
  }
}
