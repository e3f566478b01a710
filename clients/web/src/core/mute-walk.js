// SPDX-License-Identifier: Apache-2.0
import { array, object, text } from './read.js';

export const mutesPerPage = 100;

/**
 * A walk through the pages of a live's mutes, which are in the order of the users' ids.
 *
 * A mute that ends during the walk moves the later ones forward, by which one would be missed between two pages. So each
 * page begins with the last mute of the page before. If it begins with a later one, the walk goes back.
 */
export class MuteWalk {
  /**
   * The offset of the page to read next; undefined at the end of the walk.
   *
   * @type {number | undefined}
   */
  offset = 0;
  /** @type {import('./read.js').JSONObject | undefined} */
  #first;
  /** @type {unknown} the mute of this user, which each page has, whichever page lists it */
  #own;
  /** @type {import('./read.js').JSONObject[]} */
  #items = [];
  /** The offset at which the last page ended. */
  #end = 0;
  /** How many mutes before that end the next page begins. */
  #overlap = 1;
  /** A list that changes all the time must not keep the walk going. */
  #pagesLeft;
  #maxCount;

  /** @param {number} maxCount how many mutes to read at most */
  constructor(maxCount) {
    this.#maxCount = maxCount;
    this.#pagesLeft = 2 * maxCount / mutesPerPage + 5;
  }

  /** The mutes so far, as one page, with the time of the first page: it may lack changes after this time. */
  get page() {
    return { ...this.#first, items: this.#items, ...(this.#own === undefined ? {} : { own: this.#own }) };
  }

  /**
   * Adds the page at `offset`, and decides which page follows.
   *
   * @param {import('./read.js').JSONObject} page
   */
  received(page) {
    const { offset } = this;
    if (offset === undefined) return;
    this.#pagesLeft -= 1;
    const items = array(page.items, 'items').map((item) => object(item, 'mute'));
    const last = this.#items.length === 0 ? undefined : userOf(this.#items[this.#items.length - 1]);
    if (this.#first === undefined) {
      const { own, ...rest } = page;
      this.#first = rest;
    }
    this.#own = page.own;
    const isLater = last !== undefined && offset > 0 && (items.length === 0 || userOf(items[0]) > last);
    if (isLater && this.#pagesLeft > 0) {
      this.#overlap *= 10;
      this.offset = Math.max(0, this.#end - this.#overlap);
      return;
    }
    this.#items.push(...items.filter((item) => last === undefined || userOf(item) > last));
    this.#items.length = Math.min(this.#items.length, this.#maxCount);
    this.#end = Number(page.nextOffset ?? 0);
    this.#overlap = 1;
    const isOver = !(this.#end > 0) || this.#end >= this.#maxCount || this.#pagesLeft <= 0;
    this.offset = isOver ? undefined : this.#end - this.#overlap;
  }
}

/** @param {import('./read.js').JSONObject} mute */
function userOf(mute) {
  return text(mute.user, 'user');
}
