// SPDX-License-Identifier: Apache-2.0

/**
 * @typedef {object} BarrageItem
 * @property {number} width in pixels
 * @property {boolean} [isGift] a gift waits for a lane for as long as it takes, and is never left out; whoever offers
 * gifts
 *   bounds how many wait (`waitingGifts`)
 *
 * @typedef {object} Placement
 * @property {BarrageItem} item
 * @property {number} lane from 0, the uppermost
 * @property {number} startedAt when its head is at the right edge
 * @property {number} startX the width of the screen then
 * @property {number} speed pixels per millisecond
 * @property {number} endsAt when its tail has left at the left edge
 */

/**
 * Chooses the lane of each message that crosses the screen from right to left, so that none overlaps another.
 *
 * Every message crosses in the same time, so a longer one is faster and could run into the one before it. A lane is
 * free for a message when the one before it has entered with its tail (`entered`), and will be gone with its tail
 * (`gone`) when the new one's head arrives at the left edge. Both move evenly, so they then cannot meet in between.
 * These two times of each lane are all that is needed: nothing is measured on the page.
 *
 * Pure: times in milliseconds of any clock that does not go back are passed in.
 */
export class LaneScheduler {
  #entered = [];
  #gone = [];
  /** Placements on the screen, in the order of their ends being unknown: short ones may end before long ones. */
  #onScreen = [];
  #waiting = [];
  #gifts = [];
  /** How many messages were left out so far. */
  dropped = 0;

  /**
   * @param {object} options
   * @param {number} options.lanes
   * @param {number} options.width of the screen, in pixels
   * @param {number} [options.duration] of a crossing, in milliseconds
   * @param {number} [options.gap] between two messages of a lane, in pixels
   * @param {number} [options.cap] the most messages on the screen; gifts come on top
   * @param {number} [options.patience] how long a message waits for a lane before it is left out, in milliseconds
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

  /** Changes the screen. What crosses it already continues as it was placed. */
  resize({ lanes, width }) {
    // On a narrower screen a tail that had entered may be outside again: such a lane waits until that message is gone.
    if (width < this.width) this.#entered = this.#gone.slice();
    this.width = width;
    this.lanes = lanes;
    while (this.#entered.length < lanes) {
      this.#entered.push(-Infinity);
      this.#gone.push(-Infinity);
    }
  }

  /** Lets a message wait for a lane. */
  offer(item, now) {
    if (item.isGift) this.#gifts.push({ item, since: now });
    else this.#waiting.push({ item, since: now });
  }

  /**
   * Places what has a free lane, gifts first, and leaves out what has waited too long. Of several lanes the lowest is
   * left to messages that wait: many gifts would else keep all of them from crossing.
   *
   * @param {(item: BarrageItem) => void} [onDrop] hears what was left out
   * @returns {Placement[]} the new ones
   */
  advance(now, onDrop) {
    const placed = [];
    const free = this.#waiting.length > 0 ? Math.max(1, this.lanes - 1) : this.lanes;
    while (this.#gifts.length > 0 && this.#place(this.#gifts[0].item, now, placed, 0, free)) this.#gifts.shift();
    // A gift that waits has the next free lane, but for the last one.
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

  /** Takes away what has left the screen, and returns it. */
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

  /** Forgets everything, and returns what was on the screen and what waited. */
  clear() {
    const items = [...this.#onScreen, ...this.#gifts, ...this.#waiting].map(({ item }) => item);
    this.#onScreen.length = this.#gifts.length = this.#waiting.length = 0;
    this.#entered.fill(-Infinity);
    this.#gone.fill(-Infinity);
    return items;
  }

  /** Places a message in the first free lane from `from` to before `to`, if there is one. */
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
