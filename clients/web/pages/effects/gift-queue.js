// SPDX-License-Identifier: Apache-2.0

/** The maximum number of waiting entries of single senders; further gifts are added up by kind. */
const mostSingle = 20;

/**
 * The gifts that wait to be shown. No gift is dropped, but the queue is bounded, because waiting gifts are added up.
 *
 * Equal gifts of one sender are one entry. Once `mostSingle` entries wait, a gift of any other sender is added to the
 * sum of its kind. So there are at most as many entries as `mostSingle` plus the number of kinds. The class is pure: it
 * draws nothing and has no clock.
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

  /** Removes and returns the oldest entry. An entry without `user` is a sum of several senders. */
  take() {
    return this.#waiting.shift();
  }

  #find(key) {
    return this.#waiting.find((entry) => entry.key === key);
  }
}

/** The key by which gifts are added up: the gift, and the sender unless the entry is a sum. */
export function keyOf(user, gift) {
  return JSON.stringify([user?.userID, gift.giftID]);
}
