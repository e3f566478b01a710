// SPDX-License-Identifier: Apache-2.0
import { avatar, hueClass, image, imageAddress } from '../lib/avatar.js';
import { h, setText } from '../lib/dom.js';
import { nameOf } from '../lib/format.js';
import { icon } from '../lib/icons.js';
import { t } from '../lib/i18n.js';
import { GiftQueue, keyOf } from './gift-queue.js';

const rows = 2;
/**
 * How long a gift is shown, in milliseconds: for less while more than `calm` others wait, and for `least` at least,
 * after which its row takes `fade` to go.
 */
const lasts = 3200;
const least = 600;
const calm = 4;
const fade = 320;
/** How many gifts wait for a lane over the stage, and how often it is looked whether one is free, in milliseconds. */
const mostForLanes = 3;
const lanePause = 200;

/** The picture of a gift. */
export function giftIcon(gift) {
  const address = imageAddress(gift.iconURL);
  return h('span', { class: `gift-icon ${hueClass(gift.giftID)}`, 'aria-hidden': 'true' }, icon('gift'), address && image(address));
}

/** Who sends a gift: somebody, or several whose gifts were added up. */
const senderOf = ({ user }) => (user ? nameOf(user) : t('gift.several'));

/**
 * Shows gifts beside the stage, two at a time, and lets them cross it. A sender's same gifts in a row add up in one
 * row; others wait their turn, and none is left out while the page is seen. What waits is bounded (see GiftQueue) and
 * is shown for less while it is much; and while anything waits, more of the same does not keep a row. So whatever is
 * sent is seen within some 20 s, and half a second more for each kind of gift.
 */
export class GiftShow {
  #barrage;
  #waiting = new GiftQueue();
  #crossing = new GiftQueue();
  #laneTimer = 0;
  #shown = [];

  /** @param {import('../barrage/renderer.js').BarrageRenderer} barrage what gifts cross the stage with */
  constructor(barrage) {
    this.#barrage = barrage;
    this.element = h('div', { class: 'gift-show', 'aria-hidden': 'true' });
  }

  /** @param {{ user: object, gift: object, count: number }} given */
  add(given) {
    // A page in the background has slow timers, and would show hours of gifts on return; the chat has all of them.
    if (document.hidden) return;
    this.#crossing.add(given);
    this.#cross();
    const key = keyOf(given.user, given.gift);
    const same = this.#shown.find((entry) => entry.key === key && !entry.isGoing);
    // A row that is about to go would show it too shortly.
    if (same && !(same.isLate && this.#waiting.length > 0)) {
      same.count += given.count;
      this.#again(same);
      return;
    }
    this.#waiting.add(given);
    this.#next();
  }

  dispose() {
    for (const { timer } of this.#shown) clearTimeout(timer);
    clearTimeout(this.#laneTimer);
  }

  /** Lets gifts cross the stage. As many lanes as there are, more may come: then they wait here, where they add up. */
  #cross() {
    while (this.#crossing.length > 0 && this.#barrage.waitingGifts < mostForLanes) {
      const entry = this.#crossing.take();
      this.#barrage.show(t('gift.sent', { name: senderOf(entry), count: entry.count, gift: entry.gift.name }), { isGift: true });
    }
    if (this.#crossing.length === 0 || this.#laneTimer) return;
    this.#laneTimer = setTimeout(() => {
      this.#laneTimer = 0;
      this.#cross();
    }, lanePause);
  }

  #next() {
    while (this.#shown.length < rows && this.#waiting.length > 0) {
      const entry = this.#waiting.take();
      entry.times = h('span', { class: 'gift-times numbers' }, `×${entry.count}`);
      entry.element = h('div', { class: 'gift-row' }, entry.user && avatar(entry.user),
        h('span', { class: 'gift-text' }, h('strong', {}, senderOf(entry)), h('span', {}, entry.gift.name)),
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
    // Who gives on and on keeps nobody waiting.
    if (this.#waiting.length === 0) this.#keep(entry);
  }

  #keep(entry) {
    const then = (time, run) => {
      entry.timer = setTimeout(run, time);
    };
    clearTimeout(entry.timer);
    entry.isLate = false;
    then(this.#waiting.length > calm ? 0 : lasts - least, () => {
      entry.isLate = true;
      then(least, () => {
        entry.isGoing = true;
        entry.element.classList.add('going');
        then(fade, () => {
          entry.element.remove();
          this.#shown = this.#shown.filter((other) => other !== entry);
          this.#next();
        });
      });
    });
  }
}
