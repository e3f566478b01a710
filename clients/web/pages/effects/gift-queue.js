// SPDX-License-Identifier: Apache-2.0

/** How many entries may wait of single senders; those of further gifts are sums. */
const mostSingle = 20;

/**
 * Gifts that wait to be shown. None is left out, and yet the queue is bounded: what waits adds up.
 *
 * A sender's same gifts are one entry. Once `mostSingle` entries wait, a gift of anybody else joins the sum of its
 * kind, so there are never more entries than `mostSingle` and the kinds of gifts. Pure: nothing is drawn, and no time
 * passes here.
 */
export class GiftQueue {
  /** @type {{ key: string, user?: object, gift: { giftID: string, name: string }, count: number }[]} */
  #waiting = [];

  get length() {
    return this.#waiting.length;
  }

  /** @param {{ user: { userID: string }, gift: { giftID: string, name: string }, count: number }} given */
  add({ user, gift, count }) {
    const single = keyOf(user, gift);
    const known = this.#find(single);
    const isSum = !known && this.#waiting.length >= mostSingle;
    const entry = known ?? (isSum ? this.#find(keyOf(undefined, gift)) : undefined);
    if (entry) entry.count += count;
    else this.#waiting.push({ key: isSum ? keyOf(undefined, gift) : single, user: isSum ? undefined : user, gift, count });
  }

  /** Takes the entry that has waited longest; without a `user` it is of several. */
  take() {
    return this.#waiting.shift();
  }

  #find(key) {
    return this.#waiting.find((entry) => entry.key === key);
  }
}

/** What gifts that add up have in common: the sender, or none for a sum, and the gift. */
export function keyOf(user, gift) {
  return JSON.stringify([user?.userID, gift.giftID]);
}
