// SPDX-License-Identifier: Apache-2.0
import { avatar, hueClass, image, imageAddress } from '../lib/avatar.js';
import { h, setText } from '../lib/dom.js';
import { nameOf } from '../lib/format.js';
import { icon } from '../lib/icons.js';
import { t } from '../lib/i18n.js';
import { GiftQueue, keyOf } from './gift-queue.js';

const rows = 2;
/**
 * How long a gift is shown, in milliseconds. The time is shorter while more than `calm` others wait, but at least
 * `least`. Afterwards its row fades out within `fade`.
 */
const lasts = 3200;
const least = 600;
const calm = 4;
const fade = 320;
/** The maximum number of gifts that wait for a lane over the stage, and how often a free lane is looked for, in ms. */
const mostForLanes = 3;
const lanePause = 200;

/** Makes the picture of a gift. */
export function giftIcon(gift) {
  const address = imageAddress(gift.iconURL);
  return h('span', { class: `gift-icon ${hueClass(gift.giftID)}`, 'aria-hidden': 'true' }, icon('gift'), address && image(address));
}

/** The name of the sender, or a text for several senders whose gifts were added up. */
const senderOf = ({ user }) => (user ? nameOf(user) : t('gift.several'));

/**
 * Shows gifts beside the stage, two at a time, and also lets them cross the stage. Equal gifts of a sender are added up
 * in one row. Other gifts wait, and none is dropped while the page is visible. The waiting gifts are bounded (see
 * `GiftQueue`) and are shown for a shorter time while there are many. While others wait, further equal gifts do not
 * extend a row. So each gift is shown within about 20 s, plus half a second for each kind of gift.
 */
export class GiftShow {
  #barrage;
  #waiting = new GiftQueue();
  #crossing = new GiftQueue();
  #laneTimer = 0;
  #shown = [];

  /** @param {import('../barrage/renderer.js').BarrageRenderer} barrage draws the gifts that cross the stage */
  constructor(barrage) {
    this.#barrage = barrage;
    this.element = h('div', { class: 'gift-show', 'aria-hidden': 'true' });
  }

  /** @param {{ user: object, gift: object, count: number }} given */
  add(given) {
    // A page in the background has slow timers, and would show old gifts when it returns. The chat has all of them.
    if (document.hidden) return;
    this.#crossing.add(given);
    this.#cross();
    const key = keyOf(given.user, given.gift);
    const same = this.#shown.find((entry) => entry.key === key && !entry.isGoing);
    // A row that is fading out would show the gift for too short a time.
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

  /** Sends gifts across the stage. At most `mostForLanes` wait for a lane; the others wait here and are added up. */
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
    // While others wait, a sender who continues to give does not extend the row.
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
