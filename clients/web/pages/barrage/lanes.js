// SPDX-License-Identifier: Apache-2.0

/**
 * @typedef {object} BarrageItem
 * @property {number} width in pixels
 * @property {boolean} [isGift] a gift waits for a lane without limit and is never dropped; the caller limits the number
 *   of waiting gifts (`waitingGifts`)
 *
 * @typedef {object} Placement
 * @property {BarrageItem} item
 * @property {number} lane from 0, the uppermost
 * @property {number} startedAt when the text's left edge was at the right edge of the screen
 * @property {number} startX the width of the screen at that time
 * @property {number} speed pixels per millisecond
 * @property {number} endsAt when the text's right edge has passed the left edge of the screen
 */

/**
 * Chooses a lane for each message that crosses the screen from right to left, so that messages do not overlap.
 *
 * All messages cross in the same time, so a longer message is faster and could overtake the one before it. A lane is
 * free for a message if the previous one is completely on the screen (`entered`), and will have left it (`gone`) when
 * the new one reaches the left edge. Both move at constant speed, so they cannot meet in between. For each lane only
 * these two times are stored, and nothing is measured on the page.
 *
 * The functions are pure: the caller passes the time, in milliseconds of any clock that does not go back.
 */
export class LaneScheduler {
  #entered = [];
  #gone = [];
  /** The messages on the screen, in no order of their ends: a short one may leave before an earlier long one. */
  #onScreen = [];
  #waiting = [];
  #gifts = [];
  /** The number of messages that were dropped so far. */
  dropped = 0;

  /**
   * @param {object} options
   * @param {number} options.lanes
   * @param {number} options.width the width of the screen, in pixels
   * @param {number} [options.duration] the time that a message takes to cross, in milliseconds
   * @param {number} [options.gap] the distance between two messages of a lane, in pixels
   * @param {number} [options.cap] the maximum number of messages on the screen, not counting gifts
   * @param {number} [options.patience] how long a message waits for a lane before it is dropped, in milliseconds
   */
  constructor({ lanes, width, duration = 8000, gap = 32, cap = 120, patience = 1500 }) {
    this.duration = duration;
    this.gap = gap;
    this.cap = cap;
    this.patience = patience;
    this.resize({ lanes, width });
  }

  get onScreen() {
    return this.#onScreen;
  }

  get waiting() {
    return this.#gifts.length + this.#waiting.length;
  }

  get waitingGifts() {
    return this.#gifts.length;
  }

  /** Changes the size of the screen. Messages on the screen continue as they were placed. */
  resize({ lanes, width }) {
    // On a narrower screen, a message that had entered may be partly outside again. Its lane is then free when it is
    // gone.
    if (width < this.width) this.#entered = this.#gone.slice();
    this.width = width;
    this.lanes = lanes;
    while (this.#entered.length < lanes) {
      this.#entered.push(-Infinity);
      this.#gone.push(-Infinity);
    }
  }

  /** Queues a message for a lane. */
  offer(item, now) {
    if (item.isGift) this.#gifts.push({ item, since: now });
    else this.#waiting.push({ item, since: now });
  }

  /**
   * Places the queued messages for which a lane is free, gifts first, and drops those that have waited too long. The
   * lowest of several lanes is reserved for messages, because many gifts would otherwise occupy all lanes.
   *
   * @param {(item: BarrageItem) => void} [onDrop] called with each dropped message
   * @returns {Placement[]} the messages that were placed now
   */
  advance(now, onDrop) {
    const placed = [];
    const free = this.#waiting.length > 0 ? Math.max(1, this.lanes - 1) : this.lanes;
    while (this.#gifts.length > 0 && this.#place(this.#gifts[0].item, now, placed, 0, free)) this.#gifts.shift();
    // A waiting gift gets the next free lane, except the last one.
    const first = this.#gifts.length > 0 ? free : 0;
    let index = 0;
    while (index < this.#waiting.length && this.#onScreen.length < this.cap) {
      if (!this.#place(this.#waiting[index].item, now, placed, first, this.lanes)) break;
      index += 1;
    }
    this.#waiting.splice(0, index);
    let late = 0;
    while (late < this.#waiting.length && now - this.#waiting[late].since > this.patience) late += 1;
    for (const { item } of this.#waiting.splice(0, late)) {
      this.dropped += 1;
      onDrop?.(item);
    }
    return placed;
  }

  /** Removes and returns the messages that have left the screen. */
  expire(now) {
    const ended = [];
    let kept = 0;
    for (const placement of this.#onScreen) {
      if (placement.endsAt <= now) ended.push(placement);
      else this.#onScreen[kept++] = placement;
    }
    this.#onScreen.length = kept;
    return ended;
  }

  /** Removes and returns all messages, on the screen and queued. */
  clear() {
    const items = [...this.#onScreen, ...this.#gifts, ...this.#waiting].map(({ item }) => item);
    this.#onScreen.length = this.#gifts.length = this.#waiting.length = 0;
    this.#entered.fill(-Infinity);
    this.#gone.fill(-Infinity);
    return items;
  }

  /** Places a message in the first free lane from `from` up to, but not including, `to`, if there is one. */
  #place(item, now, placed, from, to) {
    const speed = (this.width + item.width) / this.duration;
    const headArrives = now + this.width / speed;
    for (let lane = from; lane < to; lane += 1) {
      if (this.#entered[lane] > now || this.#gone[lane] > headArrives) continue;
      const length = item.width + this.gap;
      this.#entered[lane] = now + length / speed;
      this.#gone[lane] = now + (this.width + length) / speed;
      const placement = {
        item, lane, startedAt: now, startX: this.width, speed, endsAt: now + (this.width + item.width) / speed,
      };
      this.#onScreen.push(placement);
      placed.push(placement);
      return true;
    }
    return false;
  }
}
